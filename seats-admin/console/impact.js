/**
 * The users, API keys and routes that a change of a Seat affects, before it is sent: the plan of the gateway,
 * with the names of its users and API keys.
 */

import { hrefOf } from './address.js'
import { Differences, RouteChanges } from './differences.js'
import { call } from './gateway-calls.js'
import { readList, refusalOf } from './loading.js'
import { html } from './markup.js'
import { countText, Name } from './pieces.js'
import { givenBy } from './seat-sources.js'
import { Notice, Refusal, Warnings } from './states.js'

/** Users that are looked through for the members of a Seat. */
const MAX_USERS = 5000

/** Members that are shown. */
const MAX_SHOWN = 20

/**
 * The users who have the Seat, without grants. The gateway lists users, not members: they are looked for
 * among all.
 *
 * @param {string} seat its name
 * @param {number} count as the gateway counts them
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ members: import('./answers.d.ts').User[], isWhole: boolean }>}
 */
export async function membersOf(seat, count, signal) {
  if (count === 0) return { members: [], isWhole: true }
  const holds = (/** @type {import('./answers.d.ts').User} */ { seats }) => seats.includes(seat)
  const { items, hasMore } = await readList('/v1/users', {
    idOf: ({ sub }) => sub,
    isEnough: (users) => users.length >= MAX_USERS || users.filter(holds).length >= count,
    signal,
  })
  const members = items.filter(holds)
  return { members, isWhole: !hasMore || members.length >= count }
}

/**
 * @typedef {object} Impact
 * @property {import('./answers.d.ts').SeatsPlan} plan
 * @property {import('./answers.d.ts').User[]} members
 * @property {boolean} isWhole all members are known
 * @property {import('./gateway-calls.js').Refused | null} membersRefusal why their names are not known
 */

/**
 * @param {{ seats: Readonly<Record<string, unknown>>, block?: string[], revoke?: string[] }} changes
 * @returns {Promise<import('./answers.d.ts').SeatsPlan>} rejects with a Refused
 */
export function planOf(changes) {
  return call('POST', '/v1/seats/plan', { body: changes })
}

/**
 * @param {Readonly<Record<string, unknown>>} seats as a file of Seats has them
 * @returns {Promise<Impact>} rejects with a Refused
 */
export async function impactOf(seats) {
  const plan = await planOf({ seats })
  const [change] = plan.changes
  const none = { plan, members: [], isWhole: true, membersRefusal: null }
  if (change === undefined) return none
  try {
    return { ...none, ...(await membersOf(change.was ?? change.name, change.users)) }
  } catch (cause) {
    // Callers who may not list users see how many there are.
    return { ...none, isWhole: false, membersRefusal: refusalOf(cause) }
  }
}

/** @param {{ of: Impact, deletes?: boolean }} props */
export function ImpactView({ of: { plan, members, isWhole, membersRefusal }, deletes = false }) {
  const [change] = plan.changes
  const warnings = plan.warnings.filter(({ code }) => !(deletes && code === 'seat_held'))
  if (change === undefined)
    return html`<p>${deletes ? 'The Seat grants nothing: no route opens or closes.' : 'Nothing changes.'}</p>
      <${Warnings} warnings=${warnings} />`
  const { users, users_after: after = users, api_keys: keys } = change
  const isNew = change.action === 'create'
  const changesUsers = !deletes && after !== users
  return html`<div class="impact">
    ${deletes ? null : html`<${Edits} of=${change} />`}
    <section>
      <h3>Whom it touches</h3>
      ${
        users + after + keys.count === 0
          ? html`<p>${isNew ? 'No user and no API key yet.' : givenBy('untouched')}</p>`
          : html`<ul class="plain">
              ${
                users > 0 &&
                html`<li>
                  <b>${countText(users, 'user')}</b>
                  <${Members} users=${users} members=${members} isWhole=${isWhole} />
                </li>`
              }
              ${changesUsers && html`<li><b>${countText(after, 'user')}</b> after the change: the active ones in the group of its name</li>`}
              ${
                keys.count > 0 &&
                html`<li>
                  <b>${countText(keys.count, 'API key')}</b>
                  <ul class="names">
                    ${keys.names.map((name) => html`<li key=${name}><${Name} of=${name} /></li>`)}
                    ${keys.count > keys.names.length && html`<li class="quiet">and ${keys.count - keys.names.length} more</li>`}
                  </ul>
                </li>`
              }
            </ul>`
      }
      ${membersRefusal && html`<${Refusal} refusal=${membersRefusal} what="The names of the users are not known" />`}
    </section>
    <section>
      <h3 class="unseen">Routes</h3>
      ${change.routes_gained.count + change.routes_lost.count === 0 && html`<p>No route opens or closes.</p>`}
      <div class="side-by-side">
        <${RouteChanges} kind="lost" of=${change.routes_lost} />
        <${RouteChanges} kind="gained" of=${change.routes_gained} />
      </div>
    </section>
    ${
      warnings.some(({ code }) => code === 'nobody_administers') &&
      html`<${Notice} title="Afterwards, no one could administer this tenant from here." />`
    }
    <${Warnings} warnings=${warnings} />
  </div>`
}

/** @param {{ users: number, members: readonly import('./answers.d.ts').User[], isWhole: boolean }} props */
function Members({ users, members, isWhole }) {
  const shown = members.slice(0, MAX_SHOWN)
  const left = users - shown.length
  return html`<ul class="names">
    ${shown.map(
      ({ sub, email }) =>
        html`<li key=${sub}>
          <a href=${hrefOf(['users'], { sub })} target="_blank"><${Name} of=${email ?? sub} /></a>
        </li>`,
    )}
    ${left > 0 && shown.length > 0 && html`<li class="quiet">and ${left} more</li>`}
    ${shown.length === 0 && !isWhole && html`<li class="quiet">their names are not known here</li>`}
  </ul>`
}

/** @param {{ of: import('./answers.d.ts').PlannedChange }} props */
function Edits({ of: change }) {
  const { name, was } = change
  const edits = [
    { field: 'Name', added: was === undefined ? [] : [name], removed: was === undefined ? [] : [was] },
    { field: 'Spaces', added: change.spaces_added, removed: change.spaces_removed },
    { field: 'Permissions', added: change.permissions_added, removed: change.permissions_removed },
  ]
  return html`<${Differences}
    of=${edits.filter(({ added, removed }) => added.length + removed.length > 0)}
  />`
}
