/** Revocations as text: what one would end, what it has ended, and what to do next if it is partial. */

import { printable } from '../../telemetry/readable.ts'
import type { FleetAnswer, RevocationView } from '../remote/endpoint-answers.ts'
import { shortTime } from '../remote/list-output.ts'
import { columns, fold, plural } from '../screen.ts'

/** An answer, in the forms of the endpoints and of receipts. */
type RevocationAnswer = Omit<RevocationView, 'receipt' | 'warnings'>

/** What a revocation would end. @param name the subject in words */
export function previewText(name: string, preview: RevocationView): string {
  const { instances } = preview
  const { sessions, api_keys: keys } = preview.ended
  return rowsText(`This revokes ${name}:`, [
    ...(hasTokens(preview.subject)
      ? [['voids', 'every token issued until now; these are not counted'] as const]
      : []),
    ['ends', `${plural(sessions, 'session')}, ${plural(keys, 'API key')}`],
    ['cuts', `${openText(preview)}, at ${plural(instances.length, 'gateway')}`],
    ...commonRows(preview, 'blocks'),
  ])
}

/** The gateway does not know which tokens its tenant's secrets and other issuers have signed. */
function hasTokens(subject: RevocationView['subject']): boolean {
  return !('api_key' in subject || 'session' in subject)
}

/**
 * The answer to a revocation.
 *
 * @param file the file that has the receipt; null: none
 */
export function answerText(name: string, answer: RevocationAnswer, file: string | null): string {
  const { id, at, state, instances } = answer
  const { sessions, api_keys: keys } = answer.ended
  return [
    rowsText(`${state}: ${name} is revoked`, [
      ['id', `${id}`],
      ['voids', `what was issued until ${at}`],
      ['ended', `${plural(sessions, 'session')}, ${plural(keys, 'API key')}`],
      ['cut', openText(answer)],
      ...commonRows(answer, 'blocked'),
      ...(file === null ? [] : [['receipt', file] as const]),
    ]),
    ...(instances.length === 0 ? [] : ['', reachedText(instances)]),
  ].join('\n')
}

/** The gateways that a change has reached, as a table. */
export function reachedText(instances: RevocationView['instances']): string {
  const rows = instances.map(({ name: instance, how, ms, cut }) => [
    printable(instance),
    how === 'lease_ended' ? 'lease ended' : 'acknowledged',
    `${tenths(ms)} ms`,
    cut === null ? 'unknown' : String(cut),
  ])
  return columns([['gateway', 'answer', 'after', 'cut'], ...rows])
}

/**
 * The next steps after a partial revocation.
 *
 * @param fleet the gateways that are on the list now; null: this is not known
 */
export function nextSteps(
  { instances }: Pick<RevocationView, 'instances'>,
  fleet: FleetAnswer['data'] | null,
): string {
  if (instances.length === 0)
    return fold(
      'partial: the gateway that made this revocation has not told what it reached. Run the command again.',
    )
  const silent = instances.filter(({ cut }) => cut === null)
  const own = fleet?.find(({ id }) => id === instances[0]?.id)?.version ?? null
  const shown = silent
    .slice(0, MOST_SILENT)
    .map((each) => fold(printable(`${each.name}${stateText(each, fleet, own)}`), '  ', '    '))
  const more = silent.length - shown.length
  const whose = silent.length === 1 ? 'a gateway has' : `${silent.length} gateways have`
  return [
    fold(`partial: ${whose} not said that what was open is cut, so that it may go on there:`),
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
    fold(
      `End ${silent.length === 1 ? 'it' : 'them'}, or let ${silent.length === 1 ? 'it' : 'them'} go on, and run the command again. A gateway that was killed has nothing open: it is named for a minute.`,
    ),
  ].join('\n')
}

const MOST_SILENT = 10
/** The age in ms after which an instance is silent. */
const SILENT_AFTER = 1000

/** Why a gateway may be silent. @param own the version of the gateway that made the revocation */
function stateText(
  { id }: { readonly id: string },
  fleet: FleetAnswer['data'] | null,
  own: string | null,
): string {
  if (fleet === null || id === UNLISTED) return ''
  const listed = fleet.find((each) => each.id === id)
  if (listed === undefined) return ': off the list: it has ended, is frozen or cannot reach the store'
  if (listed.version !== own)
    return `: version ${listed.version ?? 'unknown'}, not ${own ?? 'that of the others'}: a version without revocations accepts what is void`
  const seconds = Math.round(listed.age_ms / 1000)
  return listed.age_ms > SILENT_AFTER
    ? `: no sign of life for ${plural(seconds, 'second')}`
    : ': live, but it did not say so within two seconds'
}

/** The id that stands for all other gateways if the store could not list them. */
const UNLISTED = 'unknown'

type Row = readonly [label: string, text: string]

/** The rows that a preview and an answer have in common. @param blocks the label of the block */
function commonRows(view: RevocationAnswer, blocks: string): Row[] {
  const { what, until, reason, kept = [], not_covered: uncovered } = view
  const end = until === undefined ? 'until the user is unblocked' : `until ${shortTime(until)}`
  return [
    ...(reason === null ? [] : [['reason', reason] as const]),
    ...(what === 'tokens'
      ? [['keeps', 'sessions, whose Seats are mapped again, and API keys'] as const]
      : []),
    ...(what === 'all' ? [[blocks, `new sign-ins too, ${end}`] as const] : []),
    ...kept.map(({ api_key: id }): Row => ['keeps', `API key ${id}, which asks`]),
    ...uncovered.map(({ what: where, until: last }): Row => {
      const known = Object.hasOwn(NOT_COVERED, where) ? NOT_COVERED[where] : undefined
      return ['not reached', `${known ?? where}${last === undefined ? '' : `, until ${shortTime(last)}`}`]
    }),
  ]
}

const NOT_COVERED: Readonly<Record<string, string>> = {
  signed_identity: 'signed identity (JWTs) that upstreams have received',
  decision_listener: 'connections that another proxy holds open',
  forwarded_authorization: "upstreams that get the caller's own Authorization, and verify it themselves",
}

/** What is open. An instance of a partial answer has not said its part. */
function openText({ state, ended: { websockets, streams, requests } }: RevocationAnswer): string {
  const least = state === 'partial' ? 'at least ' : ''
  return `${least}${plural(websockets, 'WebSocket')}, ${plural(streams, 'stream')}, ${plural(requests, 'request')}`
}

/** Milliseconds to the tenth. */
function tenths(ms: number | null): number {
  return Math.round(10 * (ms ?? 0)) / 10
}

function rowsText(title: string, rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([label]) => label.length)) + 4
  const lines = rows.map(([label, text]) =>
    fold(printable(text), `  ${label}`.padEnd(width), ' '.repeat(width)),
  )
  return [fold(printable(title)), ...lines].join('\n')
}
