/** The commands of a page as one shell script: what one block sets, the next one uses. */

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Block, runnable } from './pages.ts'

export interface Step {
  readonly block: Block
  readonly command: string
  /** What the block shows behind the command; null where it shows nothing. */
  readonly shown: string | null
}

const MARK = '@@ step '
/** What curl says, apart from what the programs say that run beside it. */
const CURLS = 'bin/curls'

export function stepsOf(page: string): Step[] {
  return runnable(page, 'sh', 'console', 'yaml').flatMap((block) => {
    if (block.language === 'sh') return [{ block, command: block.text, shown: null }]
    return block.language === 'console' ? consoleSteps(block) : fileStep(block)
  })
}

/** `$ command`, and what it prints. */
function consoleSteps(block: Block): Step[] {
  return [...block.text.matchAll(/^\$ (.+)\n((?:(?!\$ ).*\n)*)/gm)].map(([, command = '', shown = '']) => ({
    block,
    command,
    shown,
  }))
}

/** A file whose first line names it. */
function fileStep(block: Block): Step[] {
  const file = /^# (my\/\S+)\n/.exec(block.text)?.[1]
  if (file === undefined) return []
  return [{ block, command: `cat > ${file} <<'END'\n${block.text}END\n`, shown: null }]
}

export interface Ran {
  readonly code: number | null
  /** Of each step. */
  readonly out: readonly string[]
  readonly err: string
  /** Of each curl, in order. */
  readonly statuses: readonly number[]
}

/** @param told puts other ports in place of those of the manual */
export async function runSteps(
  t: Test,
  folder: string,
  steps: readonly Step[],
  told: (text: string) => string,
): Promise<Ran> {
  writeFileSync(join(folder, CURLS), '')
  const script = [
    'set -e',
    `curl() { command curl --write-out '%{stderr}\\nstatus %{http_code}\\n' "$@" 2>> ${CURLS}; }`,
    ...steps.flatMap(({ command }) => [`echo; echo '${MARK}'`, withPorts(told(command), told)]),
  ].join('\n')
  const path = [join(folder, 'bin'), join(folder, 'node_modules/.bin'), process.env['PATH']].join(':')
  const env = { ...process.env, PATH: path, ACME_TOKEN_SECRET: 'a secret of more than thirty-two bytes' }
  const shell = spawn('bash', ['-c', script], { cwd: folder, env, detached: true })
  t.teardown(() => endGroup(shell.pid))
  let [out, err] = ['', '']
  shell.stdout.on('data', (chunk) => (out += chunk))
  shell.stderr.on('data', (chunk) => (err += chunk))
  const code = await new Promise<number | null>((resolve) => shell.on('close', resolve))
  const curls = readFileSync(join(folder, CURLS), 'utf8')
  const statuses = [...curls.matchAll(/^status (\d{3})$/gm)].map(([, status]) => Number(status))
  return { code, out: out.split(`\n${MARK}\n`).slice(1), err: err + curls, statuses }
}

/** `init` writes the ports of the manual into a file. */
function withPorts(command: string, told: (text: string) => string): string {
  const edits = ['8080', '9090'].map((port) => `-e s/${port}/${told(port)}/`).join(' ')
  return command.replace(/^npx seatgate init (\S+).*$/m, `$&\nsed -i ${edits} $1/gateway.config.yaml`)
}

/** Programs that a failed script has left. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

/** `curl …   # 200`: the statuses that a page shows, in order. */
export function statusesOf(steps: readonly Step[]): number[] {
  const lines = steps.flatMap(({ command }) => command.replaceAll('\\\n', ' ').split('\n'))
  const curls = lines.filter((line) => /(^|\()curl /.test(line))
  return curls.map((line) => Number(/# (\d{3})$/.exec(line)?.[1]))
}
