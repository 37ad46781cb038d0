/**
 * The pages by the first segment of their address, in the order of the navigation.
 * `src/pipeline/console-site.ts` knows the same names.
 */

import { ApiKeyPage } from './pages/api-key-page.js'
import { ApiKeysPage } from './pages/api-keys-page.js'
import { AuditPage } from './pages/audit-page.js'
import { ExplainPage } from './pages/explain-page.js'
import { GrantsPage } from './pages/grants-page.js'
import { GroupPage } from './pages/group-page.js'
import { GroupsPage } from './pages/groups-page.js'
import { OverviewPage } from './pages/overview-page.js'
import { RoutesPage } from './pages/routes-page.js'
import { EditSeatPage, NewSeatPage } from './pages/seat-form-page.js'
import { SeatPage } from './pages/seat-page.js'
import { SeatsPage } from './pages/seats-page.js'
import { TablesPage } from './pages/tables-page.js'
import { TablesVersionPage } from './pages/tables-version-page.js'
import { UserPage } from './pages/user-page.js'
import { UsersPage } from './pages/users-page.js'
import { address } from './address.js'

/**
 * @typedef {(props: { rest: string[] }) => any} View
 * @typedef {object} Page
 * @property {string} name
 * @property {string} text
 * @property {string} icon
 * @property {(rest: string[]) => View | null} viewOf null: there is no such page
 * @property {(who: import('./credentials.js').SignedIn) => boolean} [isListed] in the navigation; left out: always
 */

/**
 * @param {View} view
 * @returns {Page['viewOf']}
 */
const only = (view) => (rest) => (rest.length === 0 ? view : null)

/** @type {readonly Page[]} */
export const PAGES = [
  { name: '', text: 'Overview', icon: 'overview', viewOf: only(OverviewPage) },
  { name: 'routes', text: 'Routes', icon: 'routes', viewOf: only(RoutesPage) },
  {
    name: 'tables',
    text: 'Tables',
    icon: 'tables',
    viewOf: (rest) => (rest.length > 1 ? null : rest.length === 1 ? TablesVersionPage : TablesPage),
    isListed: ({ readsTables }) => readsTables,
  },
  { name: 'seats', text: 'Seats', icon: 'seats', viewOf: seatsView },
  {
    name: 'api-keys',
    text: 'API keys',
    icon: 'keys',
    viewOf: (rest) => (rest.length > 1 ? null : rest.length === 1 ? ApiKeyPage : ApiKeysPage),
  },
  {
    name: 'users',
    text: 'Users',
    icon: 'users',
    // The id of a user may hold any character, which a path may not.
    viewOf: (rest) => (rest.length > 0 ? null : address.value.query.has('sub') ? UserPage : UsersPage),
  },
  {
    name: 'groups',
    text: 'Groups',
    icon: 'groups',
    viewOf: (rest) => (rest.length > 1 ? null : rest.length === 1 ? GroupPage : GroupsPage),
    isListed: ({ readsGroups }) => readsGroups,
  },
  { name: 'grants', text: 'Grants', icon: 'grants', viewOf: only(GrantsPage) },
  { name: 'audit', text: 'Audit', icon: 'audit', viewOf: only(AuditPage) },
  { name: 'explain', text: 'Explain', icon: 'explain', viewOf: only(ExplainPage) },
]

/**
 * @param {string[]} rest
 * @returns {View | null}
 */
function seatsView([id, part, ...more]) {
  if (id === undefined) return SeatsPage
  if (more.length > 0) return null
  if (id === 'new') return part === undefined ? NewSeatPage : null
  if (part === undefined) return SeatPage
  return part === 'edit' ? EditSeatPage : null
}
