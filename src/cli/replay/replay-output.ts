/** The result of a replay: as text for a terminal, as JSON, and as Markdown for a pull request. */

import { type Reason, REASONS } from '../../access/replay/unjudged-reasons.ts'
import type { ReplayGroup, ReplayResult } from '../../access/replay/replayed-log.ts'
import { printable } from '../../telemetry/readable.ts'
import { fold, foldWords } from '../screen.ts'
import { grouped } from './progress.ts'
import { code, escaped } from '../markdown.ts'

/** The most groups of one direction in the text. */
const MOST_GROUPS = 10
/** The most rows of a comment, which GitHub cuts off at 65,536 characters. */
const MOST_ROWS = 100
/** The width of the counts and their margins. */
const INDENT = ' '.repeat(13)

const DIRECTIONS = [
  { title: 'allow → deny', mark: '⛔ ', has: ({ from }: ReplayGroup) => from === 'allow' },
  { title: 'deny → allow', mark: '⚠️ ', has: ({ to }: ReplayGroup) => to === 'allow' },
  {
    title: 'deny → deny, with another code',
    mark: '',
    has: ({ from, to }: ReplayGroup) => from !== 'allow' && to !== 'allow',
  },
] as const

/** The result as JSON. Characters of logs that control a terminal are escaped within strings. */
export function replayAsJson(result: ReplayResult): string {
  return JSON.stringify(result, null, 2).split('\n').map(printable).join('\n')
}

export function replayAsText(result: ReplayResult): string {
  const parts = DIRECTIONS.map(({ title, has }) => directionAsText(title, result.groups.filter(has)))
  const all = [...parts, unjudgedAsText(result), summary(result)]
  return all.filter((part) => part !== '').join('\n\n')
}

function directionAsText(title: string, groups: readonly ReplayGroup[]): string {
  if (groups.length === 0) return ''
  const shown = groups.slice(0, MOST_GROUPS).flatMap(groupAsText)
  const more = groups.length - MOST_GROUPS
  const rest = more > 0 ? [`  … and ${grouped(more)} more groups: --json has them`] : []
  const all = groups.reduce((sum, { count }) => sum + count, 0)
  return [`${title}: ${requests(all)}`, ...shown, ...rest].join('\n')
}

function groupAsText(group: ReplayGroup): string[] {
  const { from, to, count } = group
  const callers = callersOf(group)
  const words = callers.map((caller, at) => (at === callers.length - 1 ? caller : `${caller},`))
  return [
    `  ${grouped(count).padStart(9)}  ${requestText(group)}`,
    `${INDENT}${from} → ${to}`,
    foldWords(words, INDENT),
  ]
}

/** The request of a group: `GET /v1/me`, with the entry that answers if the method does not tell it. */
function requestText({ method, route }: ReplayGroup): string {
  if (route === null) return method === '*' ? 'entries beyond 2,000 groups' : `${method}, no entry`
  return printable(route.startsWith(`${method} `) ? route : `${method} by entry ${route}`)
}

function callersOf({ callers, callers_approximate: isApproximate }: ReplayGroup): string[] {
  return callers.map(({ caller, count }) => {
    return `${printable(caller ?? 'no known caller')} ${isApproximate ? '≤ ' : ''}${grouped(count)}`
  })
}

function unjudgedAsText({ unjudged }: ReplayResult): string {
  const reasons = reasonsOf(unjudged)
  if (reasons.length === 0) return ''
  const lines = reasons.flatMap(([reason, count]) => [
    `  ${grouped(count).padStart(9)}  ${reason}`,
    fold(REASONS[reason], INDENT),
  ])
  return ['not judged', ...lines].join('\n')
}

function reasonsOf(unjudged: ReplayResult['unjudged']): [Reason, number][] {
  return Object.entries(unjudged) as [Reason, number][]
}

function summary({ requests: all, same, changed, unjudged }: ReplayResult): string {
  const open = Object.values(unjudged).reduce((sum, count) => sum + count, 0)
  if (all === 0) return '0 requests: the log has none'
  return `${requests(all)}: ${grouped(same)} same, ${grouped(changed)} changed, ${grouped(open)} not judged`
}

function requests(count: number): string {
  return `${grouped(count)} ${count === 1 ? 'request' : 'requests'}`
}

export function replayAsMarkdown(result: ReplayResult): string {
  const { groups, unjudged } = result
  const rows = groups.slice(0, MOST_ROWS).map((group) => {
    const mark = DIRECTIONS.find(({ has }) => has(group))?.mark ?? ''
    const answers = `${mark}${code(group.from)} → ${code(group.to)}`
    const callers = callersOf(group).map(escaped).join('<br>')
    return `| ${grouped(group.count)} | ${answers} | ${code(requestText(group))} | ${callers} |`
  })
  const more = groups.length - MOST_ROWS
  const table = ['| requests | answer | route | callers |', '| ---: | --- | --- | --- |', ...rows].join('\n')
  const open = reasonsOf(unjudged).map(
    ([reason, count]) => `- ${grouped(count)} not judged, ${code(reason)}: ${REASONS[reason]}`,
  )
  return [
    `### Replay: ${summary(result)}`,
    ...(rows.length === 0 ? [] : [table]),
    ...(more > 0 ? [`… and ${grouped(more)} more groups: \`seatgate replay --json\` has them.`] : []),
    ...(open.length === 0 ? [] : [open.join('\n')]),
  ].join('\n\n')
}
