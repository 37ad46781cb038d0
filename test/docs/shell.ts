/** Runs the commands of a page in a folder like a clone, as one shell script: what one block sets, the next one uses. */

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { reservePort } from '../support/servers/ports.ts'
import { cloneFolder, seatsIn } from './clone.ts'
import { type Block, blocksOf, pages, placeOf, runnable } from './pages.ts'
import { differences } from './same.ts'

/** Begins without a store: it makes its own. */
const FROM_NOTHING = 'README.md'
const PORTS = ['8080', '9090', '9001']
const MARK = '@@ step '
/** What curl says, apart from what the programs say that run beside it. */
const CURLS = 'bin/curls'

/** They take half of the time of all, in a file of their own. */
export const ADMINISTRATION: readonly string[] = [
  'docs/administration.md',
  'docs/cli.md',
  'docs/revocation.md',
]

/** Pages with commands. */
export const pagesWithCommands = pages.filter((page) =>
  stepsOf(page).some(({ block }) => block.language !== 'yaml'),
)

export async function runPage(t: Test, page: string): Promise<void> {
  const steps = stepsOf(page)
  const folder = cloneFolder(t)
  if (page !== FROM_NOTHING) await seatsIn(folder)
  const ran = await runSteps(t, folder, steps, await otherPorts(t))
  t.equal(ran.code, 0, ran.err)
  t.equal(ran.out.length, steps.length, 'every step was reached')
  t.same(ran.statuses, statusesOf(steps), ran.err)
  for (const [at, step] of steps.entries()) check(t, step, ran.out[at] ?? '')
}

async function otherPorts(t: Test): Promise<(text: string) => string> {
  const ports = new Map<string, number>()
  for (const port of PORTS) ports.set(port, await reservePort(t))
  return (text) => text.replaceAll(/\b\d{4}\b/g, (port) => String(ports.get(port) ?? port))
}

/** The output of a console block, and the JSON block that stands behind commands. */
function check(t: Test, { block, shown }: Step, out: string): void {
  if (shown !== null) t.same(out.trim().split('\n'), shown.trim().split('\n'), placeOf(block))
  const next = blocksOf(block.page).find(({ line }) => line > block.line)
  if (block.language === 'sh' && next?.language === 'json' && next.notRun === null)
    t.same(differences(JSON.parse(next.text), JSON.parse(out)), [], placeOf(next))
}

interface Step {
  readonly block: Block
  readonly command: string
  /** What the block shows behind the command; null where it shows nothing. */
  readonly shown: string | null
}

function stepsOf(page: string): Step[] {
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

interface Ran {
  readonly code: number | null
  /** Of each step. */
  readonly out: readonly string[]
  readonly err: string
  /** Of each curl, in order. */
  readonly statuses: readonly number[]
}

/** @param told puts other ports in place of those of the manual */
async function runSteps(
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
function statusesOf(steps: readonly Step[]): number[] {
  const lines = steps.flatMap(({ command }) => command.replaceAll('\\\n', ' ').split('\n'))
  const curls = lines.filter((line) => /(^|\()curl /.test(line))
  return curls.map((line) => Number(/# (\d{3})$/.exec(line)?.[1]))
}
