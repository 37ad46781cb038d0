/** The gateway's plan of a change of Seats, as text: what the change does, and who is affected. */

import { printable } from '../../telemetry/readable.ts'
import type { Plan, PlanBody, PlannedChange } from '../remote/endpoint-answers.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import { plural, fold } from '../screen.ts'
import { warningText } from './written.ts'

const SIGNS = { create: '+', update: '~', delete: '-' } as const
const COUNTED_EXACTLY = 'users are exact: those who have the Seats by their SCIM groups now'
const COUNTED_BY_SIGN_IN = 'users are not exact: those whose latest sign-in carried the Seats'
/** The most entries of a list that are shown. */
const SHOWN = 10

export async function planOf(gateway: Gateway, body: PlanBody): Promise<Plan> {
  return (await gateway.send<Plan>('/v1/seats/plan', { method: 'POST', body, reads: true })).value
}

export function planText({
  tenant,
  changes,
  unchanged,
  unnamed,
  warnings,
  users_exact: exact,
}: Plan): string {
  const count = (action: PlannedChange['action']) => changes.filter((each) => each.action === action).length
  const summary =
    changes.length === 0
      ? `tenant ${tenant}: nothing to do, ${plural(unchanged, 'Seat')} as in the files`
      : `tenant ${tenant}: ${count('create')} to create, ${count('update')} to change, ${count('delete')} to delete, ${unchanged} as in the files`
  const rest =
    unnamed.count === 0
      ? []
      : [
          fold(
            `${plural(unnamed.count, 'Seat')} in no file, left alone: ${shown(unnamed.names, unnamed.count)}`,
          ),
        ]
  const isCounted = changes.some(({ users, users_after: after = users }) => users + after > 0)
  const counted = isCounted ? [exact ? COUNTED_EXACTLY : COUNTED_BY_SIGN_IN] : []
  const warned = warnings.map((each) => warningText(each))
  return [...changes.map(changeText), fold(summary), ...counted, ...rest, ...warned]
    .map((text) => text.split('\n').map(printable).join('\n'))
    .join('\n')
}

/** A deletion as text. @param change the change if the Seat is emptied; undefined: it is empty already */
export function deletionText(name: string, change: PlannedChange | undefined): string {
  const text =
    change === undefined
      ? `${SIGNS.delete} ${JSON.stringify(name)}\n    it grants nothing: no route is lost`
      : changeText({ ...change, action: 'delete' })
  return text.split('\n').map(printable).join('\n')
}

function changeText(change: PlannedChange): string {
  const { action, name, was } = change
  const title = `${SIGNS[action]} ${JSON.stringify(name)}${was === undefined ? '' : `, was ${JSON.stringify(was)}`}`
  return [title, ...listLines(change), ...touched(change)].join('\n')
}

function listLines(change: PlannedChange): string[] {
  const lists: [string, readonly string[]][] = [
    ['+ space', change.spaces_added],
    ['- space', change.spaces_removed],
    ['+ permission', change.permissions_added],
    ['- permission', change.permissions_removed],
  ]
  return lists.flatMap(([sign, texts]) => [
    ...texts.slice(0, SHOWN).map((text) => `    ${sign} ${text}`),
    ...(texts.length > SHOWN ? [`    ${sign} … and ${texts.length - SHOWN} more`] : []),
  ])
}

/** The users and the API keys in force that hold the Seat; null if there are none. */
function holdersText({ users, api_keys: keys }: Pick<PlannedChange, 'users' | 'api_keys'>): string | null {
  const holders = [
    ...(users > 0 ? [plural(users, 'user')] : []),
    ...(keys.count > 0 ? [`${plural(keys.count, 'API key')} (${shown(keys.names, keys.count)})`] : []),
  ]
  return holders.length > 0 ? holders.join(' and ') : null
}

function touched(change: PlannedChange): string[] {
  // A gateway of an older version does not say who has the Seat afterwards.
  const { routes_gained: gained, routes_lost: lost, users, users_after: after = users } = change
  const holders = holdersText(change)
  return [
    ...(holders === null ? [] : [fold(`held by ${holders}`, '    ', '      ')]),
    ...(change.action === 'delete' || after === users ? [] : [`    then held by ${plural(after, 'user')}`]),
    ...routeLine('gains', gained),
    ...routeLine('loses', lost),
  ]
}

function routeLine(verb: string, { count, routes }: PlannedChange['routes_gained']): string[] {
  if (count === 0) return []
  return [fold(`${verb} ${plural(count, 'route')}: ${shown(routes, count)}`, '    ', '      ')]
}

function shown(some: readonly string[], count: number): string {
  const listed = some.slice(0, SHOWN)
  return `${listed.join(', ')}${count > listed.length ? ` and ${count - listed.length} more` : ''}`
}
