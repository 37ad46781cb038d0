/** Revocations as text: what one would end, what it has ended, and what to do next if it is partial. */

import { printable } from '../../telemetry/readable.ts'
import type { RevocationView } from '../remote/endpoint-answers.ts'
import { names, shortTime } from '../remote/list-output.ts'
import { columns, fold, plural } from '../screen.ts'

/** An answer, in the forms of the endpoints and of receipts. */
type RevocationAnswer = Omit<RevocationView, 'receipt' | 'warnings'>

/** What a revocation would end. @param name the subject in words */
export function previewText(name: string, preview: RevocationView): string {
  const { instances } = preview
  const { sessions, api_keys: keys } = preview.ended
  return rowsText(`This revokes ${name}:`, [
    ['ends', `${plural(sessions, 'session')}, ${plural(keys, 'API key')}`],
    ['cuts', `${openText(preview)}, at ${plural(instances.length, 'gateway')}`],
    ...commonRows(preview, 'blocks'),
  ])
}

/**
 * The answer to a revocation.
 *
 * @param file the file that has the receipt; null: none
 * @param gone the gateways that were on the list at the preview, and were no longer when the revocation was made
 */
export function answerText(
  name: string,
  answer: RevocationAnswer,
  file: string | null,
  gone: readonly string[] = [],
): string {
  const { id, at, state, instances } = answer
  const { sessions, api_keys: keys } = answer.ended
  const rows = instances.map(({ name: instance, how, ms, cut }) => [
    printable(instance),
    how === 'lease_ended' ? 'lease ended' : 'acknowledged',
    `${tenths(ms)} ms`,
    cut === null ? 'unknown' : String(cut),
  ])
  const missing = gone.map((instance) => [printable(instance), 'off the list', '-', 'unknown'])
  return [
    rowsText(`${gone.length === 0 ? state : 'partial'}: ${name} is revoked`, [
      ['id', `${id}`],
      ['voids', `what was issued until ${at}`],
      ['ended', `${plural(sessions, 'session')}, ${plural(keys, 'API key')}`],
      ['cut', openText(answer)],
      ...commonRows(answer, 'blocked'),
      ...(file === null ? [] : [['receipt', file] as const]),
    ]),
    ...(rows.length + missing.length === 0
      ? []
      : ['', columns([['gateway', 'answer', 'after', 'cut'], ...rows, ...missing])]),
  ].join('\n')
}

/** The next steps after a partial revocation. @param gone as of {@link answerText} */
export function nextSteps({ instances }: RevocationView, gone: readonly string[]): string {
  if (instances.length === 0)
    return fold(
      'partial: the gateway that made this revocation has not told what it reached. Run the command again.',
    )
  const silent = [...instances.filter(({ cut }) => cut === null).map(({ name }) => name), ...gone]
  const which = silent.length === 0 ? 'a gateway' : names(silent, MOST_SILENT)
  const what = `partial: ${which} has not said that it cut what was open, which may go on there. A gateway of an older version may also accept what is void.`
  const steps =
    'Look with "seatgate fleet --url URL" whether it is live and which version it has, end or restart it, and run the command again.'
  return fold(printable(`${what} ${steps}`))
}

const MOST_SILENT = 10

type Row = readonly [label: string, text: string]

/** The rows that a preview and an answer have in common. @param blocks the label of the block */
function commonRows(view: RevocationAnswer, blocks: string): Row[] {
  const { what, until, kept = [], not_covered: uncovered } = view
  const end = until === undefined ? 'until the user is unblocked' : `until ${shortTime(until)}`
  return [
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
