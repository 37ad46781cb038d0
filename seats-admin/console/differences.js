/** What changed between two states of something: of Seats, API keys, blocks, grants and sessions. */

import { html } from './markup.js'
import { Facts, Icon, Time } from './pieces.js'

/**
 * @typedef {object} Difference
 * @property {string} field
 * @property {string[]} added elements of a list, or the new value
 * @property {string[]} removed
 */

/** Who changed what, and when, is said elsewhere. */
const ASIDE = new Set(['id', 'created_at', 'created_by', 'updated_at', 'updated_by'])

/**
 * @param {Readonly<Record<string, unknown>> | null} before
 * @param {Readonly<Record<string, unknown>> | null} after
 * @returns {Difference[]}
 */
export function differencesOf(before, after) {
  const fields = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...fields]
    .filter((field) => !ASIDE.has(field))
    .map((field) => {
      const [old, now] = [elementsOf(before?.[field]), elementsOf(after?.[field])]
      const [oldSet, nowSet] = [new Set(old), new Set(now)]
      return {
        field,
        added: now.filter((each) => !oldSet.has(each)),
        removed: old.filter((each) => !nowSet.has(each)),
      }
    })
    .filter(({ added, removed }) => added.length + removed.length > 0)
}

/**
 * @param {unknown} value
 * @returns {string[]} of a list its elements, of an object its members
 */
function elementsOf(value) {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.map(textOf)
  if (typeof value !== 'object') return [String(value)]
  return Object.entries(value)
    .filter(([, of]) => of !== null)
    .map(([name, of]) => `${name.replaceAll('_', ' ')}: ${elementsText(of)}`)
}

/** @param {unknown} value */
function elementsText(value) {
  return Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value)
}

/** @param {unknown} value */
function textOf(value) {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** @param {{ of: readonly Difference[] }} props */
export function Differences({ of }) {
  const rows = of.map(({ field, added, removed }) => [
    field.replaceAll('_', ' '),
    html`<${Changes} added=${added} removed=${removed} />`,
  ])
  return html`<${Facts} rows=${rows} />`
}

/**
 * Said in words too: colours alone tell nothing to those who do not see them.
 *
 * @param {{ added: readonly string[], removed: readonly string[] }} props
 */
export function Changes({ added, removed }) {
  return html`<ul class="changes">
    ${removed.map((each) => html`<li class="removed" key=${`-${each}`}><span class="unseen">removed: </span><span aria-hidden="true">−</span> <${Value} of=${each} /></li>`)}
    ${added.map((each) => html`<li class="added" key=${`+${each}`}><span class="unseen">added: </span><span aria-hidden="true">+</span> <${Value} of=${each} /></li>`)}
  </ul>`
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/** Times are shown as everywhere, in the reader's zone. @param {{ of: string }} props */
function Value({ of }) {
  return TIMESTAMP.test(of) ? html`<${Time} at=${of} />` : html`<bdi>${of}</bdi>`
}

/** @type {Readonly<Record<import('./answers.d.ts').AuditEntry['action'], string>>} */
const ACTIONS = {
  'seat.create': 'created the Seat',
  'seat.update': 'changed the Seat',
  'seat.delete': 'deleted the Seat',
  'api_key.create': 'created the API key',
  'api_key.revoke': 'revoked the API key',
  'block.create': 'blocked the user',
  'block.delete': 'ended the block of the user',
  'session.end': 'ended the session of the user',
  'revocation.create': 'revoked',
  'grant.create': 'granted a Seat to the user',
  'grant.delete': 'ended the grant of the user',
  'scim_user.create': 'created the SCIM user',
  'scim_user.update': 'changed the SCIM user',
  'scim_user.delete': 'deleted the SCIM user',
  'scim_group.create': 'created the SCIM group',
  'scim_group.update': 'changed the SCIM group',
  'scim_group.delete': 'deleted the SCIM group',
  'tables.update': 'changed the route tables to',
  bootstrap: 'bootstrapped the tenant with',
}

/** @param {string} action */
export function actionText(action) {
  return /** @type {Record<string, string>} */ (ACTIONS)[action] ?? action
}

export const ACTION_NAMES = Object.keys(ACTIONS)

/**
 * A change in the audit: who did what, and the difference.
 *
 * @param {{ entry: import('./answers.d.ts').AuditEntry, withTarget?: boolean }} props
 */
export function Entry({ entry, withTarget = true }) {
  const { at, actor, action, target, before, after, request_id: requestId } = entry
  const differences = differencesOf(before, after)
  return html`<article class="entry">
    <p>
      <b class="name"><bdi>${actor.name ?? actor.id}</bdi></b
      >${' '}
      ${actor.kind === 'user' ? null : html`<span class="quiet">(${actor.kind.replace('-', ' ')})</span> `}
      ${actionText(action)}${withTarget && html` <b class="name"><bdi>${target.name ?? target.id}</bdi></b>`}
    </p>
    ${differences.length > 0 ? html`<${Differences} of=${differences} />` : html`<p class="quiet">Nothing but the time of the change.</p>`}
    <p class="quiet small">
      <${Time}
        at=${at}
      />${' · '}${`space ${entry.space}`}${requestId && html` · request <code>${requestId}</code>`}
      ${actor.name && html` · by <code>${actor.id}</code>`}
    </p>
  </article>`
}

/** @param {{ kind: 'gained' | 'lost', of: { count: number, routes: readonly string[] } }} props */
export function RouteChanges({ kind, of: { count, routes } }) {
  if (count === 0) return null
  const isGain = kind === 'gained'
  return html`<div>
    <h3><${Icon} name=${isGain ? 'plus' : 'close'} />${count === 1 ? 'Route' : `${count} routes`} ${kind}</h3>
    <ul class="changes">
      ${routes.map(
        (route) =>
          html`<li class=${isGain ? 'added' : 'removed'} key=${route}>
            <span aria-hidden="true">${isGain ? '+' : '−'}</span> <code>${route}</code>
          </li>`,
      )}
      ${count > routes.length && html`<li class="quiet">and ${count - routes.length} more</li>`}
    </ul>
  </div>`
}
