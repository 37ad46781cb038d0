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
  const { sessions, api_keys: keys, ...open } = preview.ended
  return rowsText(`This revokes ${name}:`, [
    ['ends', `${counted(sessions, 'session')}, ${counted(keys, 'API key')}`],
    ['cuts', `${openText(open)}, at ${plural(instances.length, 'gateway')}`],
    ...commonRows(preview, 'blocks'),
  ])
}

/** The answer to a revocation. @param file the file that has the receipt; null: none */
export function answerText(name: string, answer: RevocationAnswer, file: string | null): string {
  const { id, at, state, instances } = answer
  const { sessions, api_keys: keys, ...open } = answer.ended
  const rows = instances.map(({ name: instance, how, ms, cut }) => [
    printable(instance),
    how === 'lease_ended' ? 'lease ended' : 'acknowledged',
    `${tenths(ms)} ms`,
    cut === null ? 'unknown' : String(cut),
  ])
  return [
    rowsText(`${state}: ${name} is revoked, revocation ${id} at ${shortTime(at)}`, [
      ['ended', `${counted(sessions, 'session')}, ${counted(keys, 'API key')}`],
      ['cut', openText(open)],
      ...commonRows(answer, 'blocked'),
      ...(file === null ? [] : [['receipt', file] as const]),
    ]),
    ...(rows.length === 0 ? [] : ['', columns([['gateway', 'answer', 'after', 'cut'], ...rows])]),
  ].join('\n')
}

/** The next steps after a partial revocation. */
export function nextSteps({ id, instances }: RevocationView): string {
  const silent = instances.filter(({ cut }) => cut === null).map(({ name }) => name)
  const what =
    silent.length === 0
      ? 'The gateway that made this revocation ended before it had the answers of the others.'
      : `What was open at ${names(silent, MOST_SILENT)} is not known to be cut: it may go on there, and a gateway of an older version may still accept what is void.`
  const step =
    silent.length === 0
      ? 'Run the command again.'
      : 'Look at the log of each with "seatgate fleet --url URL", end or restart it, and run the command again.'
  return fold(printable(`partial: ${what} ${step} revocation.md describes the steps. Revocation ${id}.`))
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

function openText({
  websockets,
  streams,
  requests,
}: Pick<RevocationView['ended'], 'websockets' | 'streams' | 'requests'>): string {
  return `${counted(websockets, 'WebSocket')}, ${counted(streams, 'stream')}, ${counted(requests, 'request')}`
}

/** Milliseconds to the tenth. */
function tenths(ms: number | null): number {
  return Math.round(10 * (ms ?? 0)) / 10
}

/** A count with its noun. @param count null: unknown */
function counted(count: number | null, noun: string): string {
  return count === null ? `an unknown number of ${noun}s` : plural(count, noun)
}

function rowsText(title: string, rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([label]) => label.length)) + 4
  const lines = rows.map(([label, text]) =>
    fold(printable(text), `  ${label}`.padEnd(width), ' '.repeat(width)),
  )
  return [fold(printable(title)), ...lines].join('\n')
}
