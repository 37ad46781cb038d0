/** A gateway that npm starts ends with the process that npm has started: from a clone, a local and a global installation. */

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { until } from '../support/until.ts'
import { CONFIG, folderWith, MAIN, ROUTES, SECRET } from './command-line.ts'

const files = { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES }
const clone = fileURLToPath(new URL('../..', import.meta.url))
const scripts: Record<string, string> = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')).scripts

interface Place {
  readonly cwd: string
  /** The folder of the configuration and the log. */
  readonly folder: string
  readonly env?: Record<string, string>
}

interface Launched {
  readonly npm: ChildProcess
  log(): string
}

/** Starts a program whose gateway logs into a file, and waits for its listeners. All of its processes end with the test. */
async function launch(
  t: Test,
  { cwd, folder, env = {} }: Place,
  command: readonly string[],
): Promise<Launched> {
  const [program = '', ...args] = command
  const path = join(folder, 'log')
  const file = openSync(path, 'w')
  const { NODE_OPTIONS: _, ...own } = process.env
  // Without a network: nothing may be fetched.
  const offline = { npm_config_offline: 'true', npm_config_cache: join(folder, 'cache'), ACME_SECRET: SECRET }
  const npm = spawn(program, args, {
    cwd,
    env: { ...own, ...offline, ...env },
    stdio: ['ignore', file, file],
    detached: true,
  })
  closeSync(file)
  t.teardown(() => endGroup(npm.pid))
  const log = () => readFileSync(path, 'utf8')
  await until(
    () => log().includes('/livez'),
    () => `it does not listen: ${log()}`,
    { patience: 120_000 },
  )
  return { npm, log }
}

function endGroup(pid: number | undefined): void {
  try {
    process.kill(-(pid ?? Number.NaN), 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

/** @param to the processes that get the signal: npm alone, as by `kill`; or all of them, as by Ctrl-C */
async function endsBy(t: Test, signal: NodeJS.Signals, { npm, log }: Launched, to = 'npm'): Promise<void> {
  const ops = /listening on (http:\S+) \(\/livez/.exec(log())?.[1] ?? ''
  process.kill((to === 'npm' ? 1 : -1) * (npm.pid ?? Number.NaN), signal)
  await until(
    () => log().includes('"msg":"ended"'),
    () => `${signal}: it does not end: ${log()}`,
  )
  await t.rejects(fetch(`${ops}/livez`), `${signal}: no process listens`)
}

/** A folder with a program named `seatgate`, as npm installs it. */
function withBin(t: Test, bin: string): string {
  const folder = folderWith(t, files)
  mkdirSync(join(folder, bin), { recursive: true })
  symlinkSync(MAIN, join(folder, bin, 'seatgate'))
  return folder
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const
// npm takes a second or two to begin, most of which it waits.
t.jobs = 3

t.test('npx of a local installation', async (t) => {
  const folder = withBin(t, 'node_modules/.bin')
  // Its shell stays when SIGHUP or SIGKILL ends npx alone.
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    await t.test(signal, async (t) => {
      const launched = await launch(t, { cwd: folder, folder }, ['npx', 'seatgate', 'start'])
      // Debian's sh waits on SIGINT until its program has ended, and npm waits for sh: npx is not killed by it alone.
      await endsBy(t, signal, launched, signal === 'SIGINT' ? 'all' : 'npm')
    })
})

t.test('npx of a global installation', async (t) => {
  const prefix = withBin(t, 'bin')
  const folder = folderWith(t, files)
  const place = { cwd: folder, folder, env: { npm_config_prefix: prefix } }
  await endsBy(t, 'SIGTERM', await launch(t, place, ['npx', 'seatgate', 'start']))
})

t.test('npx in the clone', async (t) => {
  const folder = folderWith(t, files)
  const config = join(folder, 'gateway.config.yaml')
  const line = ['npx', 'seatgate', 'start', '--config', config]
  await endsBy(t, 'SIGTERM', await launch(t, { cwd: clone, folder }, line))
})

/** Both scripts are one program, which npm starts in the same way. */
const RUNS = [
  { name: 'start', args: [], signals: SIGNALS },
  { name: 'seatgate', args: ['--', 'start'], signals: ['SIGTERM', 'SIGKILL'] as const },
  // An operator sets a variable in the script.
  { name: 'start', variable: 'NODE_ENV=production ', args: [], signals: ['SIGTERM'] as const },
]
for (const { name, variable, args, signals } of RUNS)
  t.test(`npm run ${name}${variable === undefined ? '' : ', with a variable'}`, async (t) => {
    const ours = (scripts[name] ?? '').replace('src/cli/seatgate.js', MAIN)
    const script = variable === undefined ? ours : variable + ours.replace('exec ', '')
    const folder = folderWith(t, {
      ...files,
      'package.json': JSON.stringify({ scripts: { [name]: script } }),
    })
    for (const signal of signals)
      await t.test(signal, async (t) =>
        endsBy(t, signal, await launch(t, { cwd: folder, folder }, ['npm', 'run', name, ...args])),
      )
  })
