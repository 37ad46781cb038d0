/** The endpoints of AuthZEN as routes of a table of their own. The front door does not have them. */

import type { Store } from '../../../seats-admin/index.ts'
import { EVALUATE, requiredPermissions } from '../../access/required-permissions.ts'
import type { Tables } from '../../access/tables.ts'
import type { TenantConfig } from '../../config/config.ts'
import { compileTable, type RouteTable } from '../../decision/router/table.ts'
import type { MemoryLease } from '../../decision/engine.ts'
import { Refusal } from '../../model/errors.ts'
import { type LocalHandler, type LocalResponse, ownRoute, type Route } from '../../model/route.ts'
import { Decisions } from './authzen-decisions.ts'
import { discoveryRoutes, SEARCH_PATHS, EVALUATION_PATH, EVALUATIONS_PATH } from './discovery.ts'
import { evaluate, evaluateAll } from './evaluations.ts'
import { evaluationFields, searchFields } from './authzen-log-fields.ts'
import { routeIndex } from './route-index.ts'
import { search } from './search.ts'
import type { HolderMemory } from './subjects.ts'

/** The most bytes of a request body. */
export const MAX_BODY = 1024 * 1024

interface AuthzenDeps {
  readonly store: Pick<Store, 'readUser' | 'listSeats' | 'listApiKeys' | 'listUsers'>
  readonly memory: HolderMemory
  readonly lease: MemoryLease
  /** The tables that decide requests. */
  readonly tables: Tables
  readonly tenants: ReadonlyMap<string, TenantConfig>
  /** The origin of the listener as programs reach it; null: there is no discovery. */
  readonly url: string | null
  /** The time in ms since the epoch. */
  readonly now: () => number
}

export function authzenTable(deps: AuthzenDeps): RouteTable {
  return compileTable([], new Map(), [...apiRoutes(deps), ...discoveryRoutes(deps.url)]).table
}

function apiRoutes(parts: AuthzenDeps): Route[] {
  const tables = () => parts.tables
  const permissions = requiredPermissions(() => parts.tables.table.routes)
  const deps = { ...parts, index: routeIndex(tables), permissions: () => permissions().all }
  const decisions = (tenant: string) => new Decisions(tenant, deps)
  const secretsOf = (tenant: string) => parts.tenants.get(tenant)?.token.secrets ?? []
  return [
    apiRoute(EVALUATION_PATH, async ({ body, principal }) =>
      answered(await evaluate(body, decisions(principal.tenant)), (answer) => evaluationFields(body, answer)),
    ),
    apiRoute(EVALUATIONS_PATH, async ({ body, principal }) =>
      answered(await evaluateAll(body, decisions(principal.tenant)), (answer) =>
        evaluationFields(body, answer),
      ),
    ),
    ...SEARCH_PATHS.map(({ path, sought }) =>
      apiRoute(path, async ({ body, principal: { tenant } }) => {
        const asker = { tenant, secrets: secretsOf(tenant) }
        const answer = await search(body, sought, asker, decisions(tenant), deps)
        return answered(answer, (page) => searchFields(body, sought, page))
      }),
    ),
  ]
}

function apiRoute(path: string, handler: LocalHandler): Route {
  return ownRoute('POST', path, EVALUATE, { kind: 'local', handler, reads: true }, MAX_BODY)
}

/** @param logged the fields of the log line */
function answered<A>(
  answer: A | Refusal,
  logged: (answer: A) => Readonly<Record<string, unknown>>,
): LocalResponse | Refusal {
  return answer instanceof Refusal ? answer : { status: 200, body: answer, logged: logged(answer) }
}
