/** `seatgate start` in surroundings that have a fault, as a process of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, closeSync, openSync } from 'node:fs'
import type { Test } from 'tap'
import { folderWith, MAIN, ROUTES, SECRET } from '../../cli/command-line.ts'
import { ordinaryUser } from '../../support/servers/folder.ts'
import { until } from '../../support/servers/wait.ts'

/** In every URL of a test that has a password: no output may contain it. */
export const PASSWORD = 'hush-hush-secret'

export interface Case {
  readonly fault: string
  readonly listen?: string
  readonly ops?: string
  /** `SEATGATE_STORE`, which is the value of `store`. */
  readonly store?: string
  /** Entries of the upstream in line 5, from column 27 on. */
  readonly upstream?: string
  /** Lines from 7 on. */
  readonly more?: string
  /** Beside the configuration; called before the start. */
  readonly prepare?: (folder: string) => unknown
  readonly env?: Readonly<Record<string, string>>
  /** Words before the command, such as `sh -c 'ulimit -n 64; exec "$@"' sh`. */
  readonly through?: readonly string[]
  /** As a user without privileges, when the test is root. */
  readonly asNobody?: boolean
  /** A file in place of the pipe that the test reads. */
  readonly output?: string
  /** The key that the log line is about: on a slow machine there are lines about others. */
  readonly about?: string
  /** The whole line that is expected; `DIR` stands for the folder, `USER` for the id of the user. */
  readonly message: string | RegExp
}

const FREE = '127.0.0.1:0'
const HTTP = 'targets: ["http://127.0.0.1:9"]'

const configOf = ({ listen = FREE, ops = FREE, upstream = HTTP, more = '' }: Case) => `listen: ${listen}
ops: ${ops}
store: \${SEATGATE_STORE}
tenants: { acme: { token: { secrets: ["\${ACME_SECRET}"] } } }
upstreams: { trainings: { ${upstream} } }
routes: [routes.yaml]
${more}`

export interface Running {
  readonly child: ChildProcess
  readonly folder: string
  out(): string
  err(): string
  readonly exit: Promise<number | null>
}

export async function launch(t: Test, attempt: Case): Promise<Running> {
  const folder = folderWith(t, { 'gateway.config.yaml': configOf(attempt), 'routes.yaml': ROUTES })
  chmodSync(folder, 0o755)
  // Or its files could not be removed.
  t.teardown(() => chmodSync(folder, 0o755))
  await attempt.prepare?.(folder)
  const asNobody = attempt.asNobody === true
  // With the options of a coverage run, Node.js fails where its user can't write the coverage.
  const through = [...(asNobody ? ['env', '-u', 'NODE_OPTIONS'] : []), ...(attempt.through ?? [])]
  const [command = '', ...args] = [...through, process.execPath, MAIN, 'start']
  const output = attempt.output === undefined ? 'pipe' : openSync(attempt.output, 'w')
  const { SEATGATE_STORE = attempt.store ?? 'sqlite:./seatgate.db', ...env } = attempt.env ?? {}
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ACME_SECRET: SECRET, SEATGATE_STORE, ...env },
    stdio: ['ignore', output, 'pipe'],
    ...(asNobody ? ordinaryUser() : {}),
  })
  if (typeof output === 'number') closeSync(output)
  t.teardown(() => child.kill('SIGKILL'))
  const texts = { out: '', err: '' }
  child.stdout?.on('data', (chunk) => (texts.out += chunk))
  child.stderr?.on('data', (chunk) => (texts.err += chunk))
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, folder, out: () => texts.out, err: () => texts.err, exit }
}

/** The start ends with exit code 1 and this line. */
export async function endsWith(t: Test, attempt: Case): Promise<void> {
  const running = await launch(t, attempt)
  t.equal(await running.exit, 1, `${attempt.fault}: exit code`)
  compare(t, attempt, running, running.err().trim())
}

/** The gateway goes on, or waits, and logs the line as `field`, `times` times. */
export async function logs(t: Test, attempt: Case, field: 'cause' | 'msg', times = 1): Promise<Running> {
  const running = await launch(t, attempt)
  const about = attempt.about === undefined ? '' : `${attempt.about}:`
  const found = () =>
    linesOf(running.out()).filter(({ [field]: text }) =>
      ['config.yaml:', about].every((part) => `${text}`.includes(part)),
    )
  await until(
    () => found().length >= times,
    () => `${attempt.fault}: not logged\n${running.out()}${running.err()}`,
  )
  for (const line of found()) compare(t, attempt, running, `${line[field]}`)
  return running
}

export async function end(t: Test, { child, exit }: Running): Promise<void> {
  child.kill('SIGTERM')
  t.equal(await exit, 0, 'ends with SIGTERM')
}

function compare(t: Test, { fault, message }: Case, running: Running, line: string): void {
  const user = String(ordinaryUser()?.uid ?? process.getuid?.())
  const text = line.replaceAll(running.folder, 'DIR').replaceAll(`uid ${user}`, 'uid USER')
  t.comment(text)
  if (typeof message === 'string') t.equal(text, message, fault)
  else t.match(text, message, fault)
  for (const secret of [PASSWORD, SECRET])
    t.notOk((running.out() + running.err()).includes(secret), 'no secret')
}

function linesOf(log: string): Record<string, unknown>[] {
  return log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
