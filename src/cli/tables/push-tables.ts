/** Plans and pushes of route tables to a gateway, and what their refusals say. */

import { join } from 'node:path'
import type { TableFiles } from '../../../seats-admin/model/tables-version.ts'
import { printable } from '../../telemetry/readable.ts'
import { CommandFailed, type Terminal } from '../command.ts'
import { changesAsText } from '../difference-output.ts'
import { confirm } from '../remote/administration-prompt.ts'
import type {
  ActiveTablesView,
  FleetAnswer,
  PlannedTables,
  PushedTablesView,
} from '../remote/endpoint-answers.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { type FaultOfTables, GatewayRefusal } from '../remote/problem-text.ts'
import { reachedText } from '../revoke/revocation-output.ts'
import { fold, plural } from '../screen.ts'

/** A set of files, with the place of a file for messages. */
export interface TableSet {
  readonly files: TableFiles
  readonly placeOf: (file: string) => string
}

export function setOfFolder(folder: string, files: TableFiles): TableSet {
  return { files, placeOf: (file) => join(folder, file) }
}

/** The plan of a push. @throws CommandFailed if the files have faults, which are printed */
export async function planOfTables(
  gateway: Gateway,
  set: TableSet,
  terminal: Terminal,
): Promise<PlannedTables> {
  const body = { files: set.files }
  try {
    return (await gateway.send<PlannedTables>('/v1/tables/plan', { method: 'POST', body, reads: true })).value
  } catch (cause) {
    if (!isRefused(cause)) throw cause
    // The gateway that answers has all the faults: its name would tell nothing.
    throw faultsPrinted(
      cause,
      cause.problem.faults.map((fault) => faultLine(fault, set)),
      terminal,
    )
  }
}

export interface PushValues {
  readonly yes?: boolean | undefined
  readonly json?: boolean | undefined
}

/**
 * Prints the plan, asks, and pushes on exactly the version that was planned on.
 *
 * @param name the files in words, such as `routes`
 */
export async function pushTables(
  gateway: Gateway,
  name: string,
  set: TableSet,
  { yes, json }: PushValues,
  terminal: Terminal,
): Promise<void> {
  const { value: active, tag } = await gateway.send<ActiveTablesView>('/v1/tables', {
    method: 'GET',
    query: { limit: 1 },
  })
  const plan = await planOfTables(gateway, set, terminal)
  if (json !== true) await terminal.print(`${changesAsText(plan.changes)}\n`)
  // The same files are sent, too: the push before may not be known everywhere yet.
  if (!isSame(active.files, set.files)) {
    const change = `${name} would replace version ${active.version}`
    await confirm({ question: `Push ${name} in place of version ${active.version}?`, change }, yes, terminal)
  }
  const body = { files: set.files }
  const { value } = await gateway
    .send<PushedTablesView>('/v1/tables', { method: 'PUT', body, ifMatch: tag ?? '' })
    .catch((cause: unknown) => explain(cause, gateway, set, terminal))
  await terminal.print(json === true ? JSON.stringify(value) : pushedText(value))
}

export function isSame(one: TableFiles, other: TableFiles): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

function pushedText({ version, hash, instances, took_ms: took }: PushedTablesView): string {
  return [
    `active: version ${version}, hash ${hash}, after ${took} ms at ${plural(instances.length, 'gateway')}`,
    '',
    reachedText(instances),
  ].join('\n')
}

/** Explains the refusal of a push. @throws CommandFailed in its place */
async function explain(cause: unknown, gateway: Gateway, set: TableSet, terminal: Terminal): Promise<never> {
  if (isRefused(cause))
    throw faultsPrinted(cause, await linesByInstance(gateway, cause.problem.faults, set), terminal)
  if (!(cause instanceof CommandFailed)) throw cause
  const code = cause instanceof GatewayRefusal ? cause.problem.code : null
  if (cause instanceof GatewayRefusal && code === 'precondition_failed')
    throw new CommandFailed(
      `another push came between, and nothing was changed: plan again (request ${cause.problem.requestId})`,
    )
  const isOpen = code === 'unavailable' || (code === null && /may have been made/.test(cause.message))
  throw isOpen ? new CommandFailed(`${cause.message}\n${fold(OPEN)}`) : cause
}

const OPEN =
  'The tables may be active: seatgate tables history --limit 1 shows the active version. Repeating the push is harmless.'

function isRefused(cause: unknown): cause is GatewayRefusal {
  return (
    cause instanceof GatewayRefusal &&
    cause.problem.code === 'tables_refused' &&
    cause.problem.faults.length > 0
  )
}

function faultsPrinted(
  { problem }: GatewayRefusal,
  lines: readonly string[],
  terminal: Terminal,
): CommandFailed {
  for (const line of lines) terminal.printError(line)
  return new CommandFailed(
    `nothing was changed: ${plural(lines.length, 'fault')} (${problem.status} ${problem.code}, request ${problem.requestId})`,
  )
}

function faultLine({ file, line, column, message }: FaultOfTables, { placeOf }: TableSet): string {
  return printable(line === 0 ? message : `${placeOf(file)}:${line}:${column}: ${message}`)
}

/** A line a fault, with the names of the gateways that have it. */
async function linesByInstance(
  gateway: Gateway,
  faults: readonly FaultOfTables[],
  set: TableSet,
): Promise<string[]> {
  const names = await namesOfInstances(gateway)
  const byLine = Map.groupBy(faults, (fault) => faultLine(fault, set))
  return [...byLine].map(([line, same]) => {
    const at = [...new Set(same.map(({ instance }) => names.get(instance) ?? instance))]
    return `${line} (at ${printable(at.join(', '))})`
  })
}

/** The name of each instance by its id; empty if the caller may not see them. */
async function namesOfInstances(gateway: Gateway): Promise<ReadonlyMap<string, string>> {
  try {
    const { data } = await gateway.get<FleetAnswer>('/v1/fleet')
    return new Map(data.map(({ id, name }) => [id, name ?? id]))
  } catch (cause) {
    if (cause instanceof CommandFailed) return new Map()
    throw cause
  }
}
