/** `seatgate verify`: checks on the running gateways that nothing is stale after a 2xx. */

import { isSessionId } from '../../seats-admin/model/session-record.ts'
import { durationWithin } from '../config/units.ts'
import { formatOption, JSON_OUTPUT, parsedOption, UsageError } from './arguments.ts'
import { defineCommand, type Terminal } from './command.ts'
import { noteIfPlain, REMOTE, requireSpaceId, sharedOptionsOf, urlOf } from './remote/gateway-options.ts'
import { StatusLine } from './status-line.ts'
import { leftInWords, PREFIX } from './verify/made-objects.ts'
import type { RunRecord } from './verify/run-record.ts'
import { tokenSecretOf } from './verify/trial-tokens.ts'
import {
  askOnce,
  distinct,
  instancesOf,
  joinedSince,
  nameOf,
  NO_INSTANCES,
  type Reached,
} from './verify/managed-places.ts'
import {
  type VerificationResult,
  type VerificationSettings,
  verify as runVerification,
} from './verify/verification.ts'
import { VERIFY_FORMATS, verifyOutput, type VerifyReport } from './verify/verify-report.ts'

const VIOLATIONS = 3

export const verify = defineCommand({
  name: 'verify',
  summary:
    'Checks on running gateways that nothing is stale: no request that begins after the 2xx of a change is decided on the state before it.',
  details: `One writer changes Seats and API keys of its own, whose names begin with ${PREFIX}, while readers ask every address for GET /v1/canary. With --tables it also flips the permission of an entry in route tables of the store. All that it made is deleted at the end. The API key needs seats:list, seats:create, seats:update, seats:delete, api-keys:list, api-keys:create and api-keys:delete, and must be allowed to grant canary:read; with --writers over 1, it also needs seats:read and api-keys:read.`,
  options: {
    url: {
      value: 'URL',
      description:
        'address of a gateway, or of what is in front of several; may be repeated; by default, the value of SEATGATE_URL',
      multiple: true,
    },
    'api-key': {
      value: 'KEY',
      description:
        'an API key, - to read it from standard input, or the name of an environment variable that has it; by default, the value of SEATGATE_API_KEY',
    },
    space: {
      value: 'S',
      description: 'the space in which Seats are granted and asked about',
      default: 'admin',
    },
    'admin-space': {
      value: 'S',
      description:
        "the tenant's admin space, if the gateway does not tell it: for blocks, the fleet, and keys that may not manage Seats in --space",
    },
    duration: { value: 'TIME', description: 'how long to read and write', default: '60s' },
    rate: {
      value: 'RATE',
      description: 'writes in a time, such as 1/s or 10/m; at most 1/s',
      default: '1/s',
    },
    readers: { value: 'N', description: 'readers at each address, from 1 to 64', default: '4' },
    writers: {
      value: 'N',
      description:
        'writers at one time, from 1 to 8, each with the rate of --rate; the answers of several are judged together, and only Seats and API keys change',
      default: '1',
    },
    'each-instance': {
      description: 'also asks each instance of the fleet at the address that it advertises',
    },
    'token-secret-file': {
      value: 'FILE',
      description:
        'a token secret of the tenant: tokens, and the block and the revocation of a user, are tested too',
      completes: 'file',
    },
    'end-session': {
      value: 'ID',
      description:
        'ends this sign-in session, which was made for the check; may be repeated; needs --token-secret-file',
      multiple: true,
    },
    during: {
      value: 'COMMAND',
      description: 'runs a shell command during the check, and marks it in the report',
    },
    tables: {
      description:
        'also pushes route tables in which an entry of the run requires a permission that its caller has, and then one that it has not. The tables must be in the store; the API key needs tables:read and tables:update in the admin space; the first upstream of the tables gets the requests that are allowed, and whatever it answers counts as allowed',
    },
    'no-streams': { description: 'leaves out open event streams' },
    'no-blocks': { description: 'leaves out the block of a user' },
    'no-revocations': { description: 'leaves out the revocation of a user, whose record stays' },
    ca: REMOTE.ca,
    timeout: { ...REMOTE.timeout, default: '5s' },
    json: JSON_OUTPUT,
    format: formatOption(VERIFY_FORMATS),
  },
  exits: {
    0: 'there was no violation',
    1: 'it could not run, checked nothing, was interrupted, or could not delete what it made',
    3: 'there were violations',
  },
  example: 'seatgate verify --url https://gateway.example.com --each-instance',
  run: async ({ values }, terminal) => {
    const urls = addressesOf(values.url, terminal)
    const numbers = numbersOf(values)
    for (const name of ['admin-space', 'space'] as const) requireSpaceId(`--${name}`, values[name])
    if (values.json && values.format === 'junit')
      throw new UsageError('--json and --format junit exclude each other')
    if (values.during !== undefined && values.during.trim() === '') throw new UsageError('--during is empty')
    const sessions = sessionsOf(values['end-session'] ?? [], values['token-secret-file'] !== undefined)
    if (sessions.length > 0 && numbers.writers > 1)
      throw new UsageError('--end-session and --writers exclude each other: several writers end no session')
    if (values.tables === true && numbers.writers > 1)
      throw new UsageError('--tables and --writers exclude each other: several writers push no tables')
    const tokenSecret =
      values['token-secret-file'] === undefined ? null : tokenSecretOf(values['token-secret-file'])
    const { space, ...remote } = values
    const shared = {
      ...(await sharedOptionsOf({ ...remote, 'api-key': keySource(remote['api-key'], terminal) }, terminal)),
      space,
    }
    for (const url of urls) noteIfPlain(url, terminal)
    const places = urls.map((url) => ({ url, name: nameOf(url) }))
    const line = new StatusLine(process.stderr)
    const ends = watchSignals(terminal)
    try {
      const front = endingWith({ places, shared, adminSpace: '' }, ends.first)
      const adminSpace =
        remote['admin-space'] ?? (await askOnce(front, (gateway) => gateway.enterAdminSpace()))
      const base = { places, shared, adminSpace }
      const each = values['each-instance']
        ? await instancesOf(endingWith(base, ends.first), terminal)
        : NO_INSTANCES
      const settings: VerificationSettings = {
        ...base,
        ...numbers,
        places: distinct([...base.places, ...each.places]),
        tokenSecret,
        sessions,
        during: values.during ?? null,
        tables: values.tables === true,
        streams: values['no-streams'] !== true,
        blocks: values['no-blocks'] !== true,
        revocations: values['no-revocations'] !== true,
        terminal,
        interrupted: ends.first,
        abandoned: ends.second,
        progress: (record, state) => line.show(() => progressText(record, state, numbers.duration)),
      }
      const result = await runVerification(settings)
      line.end()
      const joined =
        values['each-instance'] && result.ended === null
          ? await joinedSince(each, endingWith(settings, ends.second))
          : []
      for (const { what, why } of [...each.untested, ...joined]) result.record.notTested(what, why)
      const report = reportOf(result)
      await terminal.print(verifyOutput(values.json ? 'json' : values.format, report))
      if (report.why !== null) terminal.printError(`seatgate verify: ${report.why}`)
      if (report.revoked.length > 0)
        terminal.printError(
          `seatgate verify: the revocation of ${report.revoked.join(', ')} stays, as every revocation does: no other user has this name`,
        )
      if (report.left.length > 0) terminal.printError(leftInWords(report.left))
      if (result.unsearched)
        terminal.printError(
          `seatgate verify: a write had no 2xx, and no gateway lists what it may have made: look for names that begin with ${PREFIX}${report.run} once they answer`,
        )
      if (report.result === 'violations') return VIOLATIONS
      return report.result === 'ok' && report.left.length === 0 && !result.unsearched ? 0 : 1
    } finally {
      line.end()
      ends.close()
    }
  },
})

/** The same gateways; requests fail as soon as the signal is aborted. */
function endingWith(
  reached: Reached,
  signal: AbortSignal,
): Reached & { readonly shared: { signal: AbortSignal } } {
  return { ...reached, shared: { ...reached.shared, signal } }
}

/** Handles the signals that end the command: the first deletes what was made, the second leaves it. */
function watchSignals(terminal: Terminal) {
  const [first, second] = [new AbortController(), new AbortController()]
  const handle = () => {
    if (first.signal.aborted) return second.abort()
    terminal.printError('seatgate verify: deleting what it made; a second Ctrl-C leaves it')
    first.abort()
  }
  for (const signal of SIGNALS) process.on(signal, handle)
  const close = () => {
    for (const signal of SIGNALS) process.off(signal, handle)
  }
  return { first: first.signal, second: second.signal, close }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

function reportOf({ run, record, left, revoked, ended, report: totals }: VerificationResult): VerifyReport {
  const report = record.report([])
  const why = ended ?? nothingChecked(report) ?? failedDrill(report)
  const result = totals.violations_total > 0 ? 'violations' : why === null ? 'ok' : 'failed'
  return { run, result, why, ...report, left, revoked }
}

/** Why a run proves nothing; null if it does. A check without reads and writes must not pass. */
function nothingChecked({ reads, writes, places, histories }: VerificationResult['report']): string | null {
  if (writes < 2) return 'it checked nothing: hardly any write was answered with 2xx'
  const unread = places.filter((place) => place.reads === 0).map(({ place }) => place)
  if (reads === 0) return 'it checked nothing: no read was decided'
  if (histories !== null && histories.unchecked > 0)
    return `${histories.unchecked} operations were not checked: too many of them overlap. Use fewer --writers or --readers`
  return unread.length === 0 ? null : `no read was decided at ${unread.join(', ')}`
}

function failedDrill({ during }: VerificationResult['report']): string | null {
  if (during === null || during.exit === 0) return null
  if (during.ended_ms === null)
    return 'the command of --during had not ended after twice the duration, and was ended'
  return `the command of --during failed (exit ${during.exit ?? 'by a signal'}): the drill was not done as written`
}

function addressesOf(texts: readonly string[] | undefined, terminal: Terminal): URL[] {
  if (texts === undefined || texts.length === 0) return [urlOf(undefined, terminal.env)]
  const urls = texts.map((each) => urlOf(each, terminal.env))
  const names = urls.map(nameOf)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new UsageError(`--url ${twice} is given twice`)
  return urls
}

/** The ids of sessions, each once. */
function sessionsOf(ids: readonly string[], hasSecret: boolean): string[] {
  const strange = ids.find((id) => !isSessionId(id))
  if (strange !== undefined) throw new UsageError(`--end-session "${strange}" is not the id of a session`)
  if (ids.length > 0 && !hasSecret)
    throw new UsageError('--end-session needs --token-secret-file, which signs a token of the session')
  return [...new Set(ids)]
}

/** The key, or the value of the variable that the option names: arguments stand in the list of processes. */
function keySource(text: string | undefined, { env }: Terminal): string | undefined {
  if (text === undefined || text === '-' || text.startsWith('sk_')) return text
  const value = /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? env[text] : undefined
  return value === undefined || value === '' ? text : value.replace(/\r?\n$/, '')
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 }
const MOST_READERS = 64
const MOST_WRITERS = 8

function numbersOf(values: Readonly<Record<'duration' | 'rate' | 'readers' | 'writers', string>>) {
  const duration = parsedOption('duration', values.duration, durationWithin('1s', '24h'))
  const [, count = '', unit = ''] = /^([1-9][0-9]{0,5})\/([smh])$/.exec(values.rate) ?? []
  const interval = (UNITS[unit] ?? Number.NaN) / Number(count)
  if (Number.isNaN(interval))
    throw new UsageError(`--rate "${values.rate}" is not a rate such as 1/s, 10/m or 100/h`)
  if (interval < 1000) throw new UsageError(`--rate "${values.rate}" is over 1/s, the most that it writes`)
  const readers = countOf('readers', values.readers, MOST_READERS)
  return { duration, interval, readers, writers: countOf('writers', values.writers, MOST_WRITERS) }
}

function countOf(option: string, text: string, most: number): number {
  const count = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > most)
    throw new UsageError(`--${option} "${text}" is not a number from 1 to ${most}`)
  return count
}

function progressText(record: RunRecord, state: 'running' | 'deleting', duration: number): string {
  const counts = `${record.writes} writes, ${record.reads} reads, ${record.violations} violations`
  if (state === 'deleting') return `deleting what was made: ${counts}`
  return `${Math.floor(record.elapsed / 1000)} s of ${Math.round(duration / 1000)} s: ${counts}`
}
