/** The start of a gateway in surroundings that have a fault: in this process, or where they are those of a process in one. */

import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Test } from 'tap'
import { loadWithTables } from '../../../src/cli/load-tables.ts'
import { startGateway } from '../../../src/composition.ts'
import { openLog } from '../../../src/telemetry/logger.ts'
import { ROUTES } from '../../cli/command-line.ts'
import { GatewayProcess, SECRET } from '../../support/gateway-process.ts'
import { ordinaryUser, serverFolder } from '../../support/servers/folder.ts'
import { until } from '../../support/until.ts'

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
  /** As with `through` and `asNobody`: for what is ended while it waits. */
  readonly ownProcess?: boolean
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

const envOf = ({ store = 'sqlite:./seatgate.db', env = {} }: Case) => ({
  ACME_SECRET: SECRET,
  SEATGATE_STORE: store,
  ...env,
})

interface Started {
  readonly folder: string
  readonly output: () => string
  /** Resolves with the fault that the start ends with. */
  readonly failed: () => Promise<string>
  readonly end: () => Promise<void>
}

function start(t: Test, attempt: Case): Promise<Started> {
  const { asNobody = false, ownProcess = false, through = [] } = attempt
  return asNobody || ownProcess || through.length > 0 ? startProcess(t, attempt) : startHere(t, attempt)
}

async function startHere(t: Test, attempt: Case): Promise<Started> {
  const folder = await prepared(t, attempt)
  const destination = join(folder, 'log')
  const log = await openLog({ pretty: false, destination })
  const open = async () => {
    const file = join(folder, 'gateway.config.yaml')
    const { config } = await loadWithTables(file, envOf(attempt), (path) => relative(folder, path))
    return startGateway(config, log)
  }
  const outcome = open().catch((error: Error) => error.message)
  const close = async () => {
    const gateway = await outcome
    if (typeof gateway !== 'string') await gateway.close(0)
    await log.close()
  }
  let ended: Promise<void> | null = null
  const end = () => (ended ??= close())
  t.teardown(end)
  const output = () => {
    log.flush()
    return readFileSync(destination, 'utf8')
  }
  const failed = async () => {
    const fault = await outcome
    return typeof fault === 'string' ? fault : `${attempt.fault}: the gateway has started`
  }
  return { folder, output, failed, end }
}

async function startProcess(t: Test, attempt: Case): Promise<Started> {
  const gateway = await launch(t, attempt)
  const failed = async () => {
    t.equal(await gateway.ended, 1, `${attempt.fault}: exit code`)
    // Beside the log.
    const lines = gateway.log.trimEnd().split('\n')
    return lines.filter((line) => !line.startsWith('{')).join('\n')
  }
  const end = async () => void t.equal(await gateway.end(), 0, 'ends with SIGTERM')
  return { folder: gateway.folder, output: () => gateway.log, failed, end }
}

export async function launch(t: Test, attempt: Case): Promise<GatewayProcess> {
  const { through = [], asNobody = false } = attempt
  const user = asNobody ? ordinaryUser() : undefined
  return GatewayProcess.launch(t, { folder: await prepared(t, attempt), env: envOf(attempt), through, user })
}

async function prepared(t: Test, attempt: Case): Promise<string> {
  const folder = serverFolder(t, 'surroundings', attempt.asNobody === true ? ordinaryUser() : undefined)
  // Or its files could not be removed.
  t.teardown(() => chmodSync(folder, 0o700))
  writeFileSync(join(folder, 'gateway.config.yaml'), configOf(attempt))
  writeFileSync(join(folder, 'routes.yaml'), ROUTES)
  await attempt.prepare?.(folder)
  return folder
}

/** The start ends with this fault; that of a process with exit code 1. */
export async function endsWith(t: Test, attempt: Case): Promise<void> {
  const started = await start(t, attempt)
  compare(t, attempt, started, await started.failed())
}

/**
 * The gateway goes on, or waits, and logs the line as `field`, `times` times. It is ended then. On a slow machine an attempt
 * may end before it meets the fault.
 */
export async function logs(t: Test, attempt: Case, field: 'cause' | 'msg', times = 1): Promise<void> {
  const started = await start(t, attempt)
  const about = attempt.about === undefined ? '' : `${attempt.about}:`
  const found = () =>
    linesOf(started.output())
      .map(({ [field]: text }) => `${text}`)
      .filter((text) => ['config.yaml:', about].every((part) => text.includes(part)))
      .filter((text) => !LATE.test(text) || isExpected(attempt, textOf(attempt, started, text)))
  await until(
    () => found().length >= times,
    () => `${attempt.fault}: not logged\n${started.output()}`,
  )
  for (const line of found()) compare(t, attempt, started, line)
  await started.end()
}

/** The fault of an attempt that took too long. */
const LATE = /\(ETIMEDOUT\)| has not responded in time\. |: (?:Command timed out|Socket timeout)\b/

function isExpected({ message }: Case, text: string): boolean {
  return typeof message === 'string' ? text === message : message.test(text)
}

function textOf({ asNobody = false }: Case, { folder }: Started, line: string): string {
  const user = String((asNobody ? ordinaryUser()?.uid : undefined) ?? process.getuid?.())
  return line.replaceAll(folder, 'DIR').replaceAll(`uid ${user}`, 'uid USER')
}

function compare(t: Test, attempt: Case, started: Started, line: string): void {
  const { fault, message } = attempt
  const text = textOf(attempt, started, line)
  t.comment(text)
  if (typeof message === 'string') t.equal(text, message, fault)
  else t.match(text, message, fault)
  for (const secret of [PASSWORD, SECRET]) t.notOk((started.output() + line).includes(secret), 'no secret')
}

function linesOf(log: string): Record<string, unknown>[] {
  return log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
