/** `/v1/tables`: the route tables, where they are in the store. */

import {
  type AdminEndpoint,
  type AdminRefusal,
  checker,
  endpoint,
  isRefusal,
  limitOf,
  limitParameter,
  reachedForm,
  type RefusedTables,
  someText,
  type Store,
  type TableFiles,
  type TablesService,
  tablesTag,
  type Writer,
} from '../../seats-admin/index.ts'
import type { IfMatch } from '../../seats-admin/model/entity-tag.ts'
import { strictObject, text } from '../../seats-admin/model/json-schema.ts'
import { inputInvalid, pointerTo } from '../../seats-admin/model/refusal.ts'
import { isTableFileName, MAX_FILE_NAME } from '../../seats-admin/model/tables-version.ts'
import type { Config, TablesLocation } from '../config/config.ts'
import { type BuiltInPaths } from './table-comparison.ts'
import { type PlanDeps, type PlannedChange, plannedChanges } from './tables-plan.ts'
import {
  activeTablesView,
  files,
  JSON_LIMITS,
  MAX_TABLES_BODY,
  NONE,
  plannedTables,
  pushedTables,
  tablesVersion,
  versionForm,
} from './tables-views.ts'

export interface TablesDeps extends Omit<PlanDeps, 'store'> {
  readonly store: Pick<Store, 'activeTables' | 'tablesVersion' | 'listTables'> & PlanDeps['store']
  readonly tablesLocation: () => TablesLocation
  /** Null: the tables are in files. */
  readonly tablesService: TablesService<Config> | null
  /** ms since the epoch */
  readonly now: () => number
}

const pushBody = checker(strictObject({ files }))

const outsideAdminSpace = (tenant: string): AdminRefusal => ({
  refused: 'permission_denied',
  detail: `The route tables serve all tenants: they are read and changed in the admin space of the tenant ${tenant} alone.`,
})

const inFiles: AdminRefusal = {
  refused: 'tables_in_files',
  detail:
    'The route tables of this instance are in its files. With tables: store in its configuration they are in the store.',
}

const notFound: AdminRefusal = { refused: 'tables_not_found', detail: 'There is no such version.' }

const withoutCondition: AdminRefusal = {
  refused: 'precondition_required',
  detail: 'Send If-Match with the ETag of GET /v1/tables, so that no push of another replaces one unseen.',
}

const anyVersion = inputInvalid([
  { path: '', message: 'If-Match must be the ETag of GET /v1/tables: * would replace any version' },
])

export function tablesEndpoints(deps: TablesDeps, builtInPaths: BuiltInPaths): AdminEndpoint[] {
  const changesTo: ChangesTo = (next, tenant, callersAt) =>
    plannedChanges(deps, builtInPaths, { next, tenant, callersAt })
  return [readTables(deps), readVersion(deps), planTables(deps, changesTo), putTables(deps, changesTo)]
}

type ChangesTo = (next: Config, tenant: string, callersAt: number | null) => Promise<PlannedChange[]>

/** The tenant of the tables, for a caller who may manage them. */
function managed(
  { tablesLocation, tablesService }: TablesDeps,
  { tenant, scope }: { readonly tenant: string; readonly scope: { readonly admin: boolean } },
): { readonly tenant: string; readonly service: TablesService<Config> } | AdminRefusal {
  const location = tablesLocation()
  if (location.from === 'files' || tablesService === null) return inFiles
  if (tenant !== location.tenant || !scope.admin) return outsideAdminSpace(location.tenant)
  return { tenant, service: tablesService }
}

function readTables(deps: TablesDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/tables',
    permission: 'tables:read',
    operation: 'readTables',
    summary: 'Reads the active route tables, and lists the versions.',
    details: 'In the admin space of `tables.tenant` alone. The ETag is that of the active version.',
    query: {
      limit: limitParameter,
      after: {
        ...someText('Only versions before this one.', 'must be the number of a version'),
        accepts: isVersion,
      },
    },
    answers: { 200: activeTablesView },
    tagged: true,
    codes: ['tables_in_files'],
    async handle({ query, caller }) {
      const place = managed(deps, caller)
      if (isRefusal(place)) return place
      const { value: active } = await deps.store.activeTables(place.tenant)
      const page = { limit: limitOf(query), after: query.after }
      const { data, hasMore } = await deps.store.listTables(place.tenant, page)
      const newest = await deps.store.tablesVersion(place.tenant, active.version)
      const body = {
        ...(newest === null ? NONE : versionForm(newest)),
        files: { ...active.files },
        versions: data.map(versionForm),
        has_more: hasMore,
      }
      return { status: 200, body, headers: ['etag', tablesTag(active)] } as const
    },
  })
}

function readVersion(deps: TablesDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/tables/{version}',
    permission: 'tables:read',
    operation: 'readTablesVersion',
    summary: 'Reads a version of the route tables.',
    details: 'In the admin space of `tables.tenant` alone.',
    params: { version: text('The number of the version.', { examples: ['12'] }) },
    answers: { 200: tablesVersion },
    codes: ['tables_in_files', 'tables_not_found'],
    async handle({ params, caller }) {
      if (!isVersion(params.version)) return notFound
      const place = managed(deps, caller)
      if (isRefusal(place)) return place
      const found = await deps.store.tablesVersion(place.tenant, Number(params.version))
      if (found === null) return notFound
      const body = { ...versionForm(found), files: found.files === null ? null : { ...found.files } }
      return { status: 200, body } as const
    },
  })
}

function planTables(deps: TablesDeps, changesTo: ChangesTo): AdminEndpoint {
  return endpoint({
    method: 'POST',
    path: '/v1/tables/plan',
    permission: 'tables:read',
    operation: 'planTables',
    reads: true,
    summary: 'Shows what a push of route tables would change, and who gains and who loses. Changes nothing.',
    details: 'In the admin space of `tables.tenant` alone. It is checked at the instance that answers.',
    body: pushBody,
    maxBody: MAX_TABLES_BODY,
    json: JSON_LIMITS,
    answers: { 200: plannedTables },
    codes: ['tables_in_files', 'tables_refused'],
    async handle({ body, caller }) {
      const place = managed(deps, caller)
      if (isRefusal(place)) return place
      const faulty = faultyFiles(body.files)
      if (faulty !== null) return faulty
      const next = await place.service.build(body.files)
      if ('faults' in next) return refusedTables(next)
      const changes = await changesTo(next, place.tenant, deps.now())
      return { status: 200, body: { equal: changes.length === 0, hash: next.hash, changes } } as const
    },
  })
}

function putTables(deps: TablesDeps, changesTo: ChangesTo): AdminEndpoint {
  return endpoint({
    method: 'PUT',
    path: '/v1/tables',
    permission: 'tables:update',
    operation: 'pushTables',
    summary: 'Replaces the route tables at all instances.',
    details:
      'In the admin space of `tables.tenant` alone, with `If-Match`. Each live instance prepares the tables first: if one cannot use them, nothing changes. The answer comes when no instance decides by the former ones, and requests in flight are decided again. A 503 leaves it open whether they were replaced: `GET` says so.',
    body: pushBody,
    maxBody: MAX_TABLES_BODY,
    json: JSON_LIMITS,
    conditional: true,
    answers: { 200: pushedTables },
    tagged: true,
    codes: [
      'precondition_failed',
      'precondition_required',
      'tables_in_files',
      'tables_refused',
      'unavailable',
    ],
    async handle({ body, ifMatch, caller }) {
      const begun = performance.now()
      const place = managed(deps, caller)
      if (isRefusal(place)) return place
      const condition = conditionOf(ifMatch)
      if (isRefusal(condition)) return condition
      const faulty = faultyFiles(body.files)
      if (faulty !== null) return faulty
      const next = await place.service.build(body.files)
      if ('faults' in next) return refusedTables(next)
      const changes = await changesTo(next, place.tenant, null)
      const writer: Writer = { ...caller, now: deps.now(), ifMatch: condition }
      const result = await place.service.push(writer, body.files)
      if (isRefusal(result)) return result
      if ('faults' in result) return refusedTables(result)
      const { version: number, hash, digest, instances } = result
      const answer = { version: number, hash, instances: instances.map(reachedForm) }
      const took_ms = Math.round(performance.now() - begun)
      const headers = ['etag', tablesTag({ version: number, digest })]
      return { status: 200, body: { ...answer, took_ms, changes }, headers } as const
    },
  })
}

/** Of a version that was pushed. */
function isVersion(value: string): boolean {
  return /^[1-9][0-9]{0,14}$/.test(value)
}

function conditionOf(ifMatch: IfMatch | null): readonly string[] | AdminRefusal {
  if (ifMatch === null) return withoutCondition
  return ifMatch === '*' ? anyVersion : ifMatch
}

function faultyFiles(of: TableFiles): AdminRefusal | null {
  const faults = Object.entries(of).flatMap(([name, text]) => {
    const path = pointerTo('/files', name.slice(0, MAX_FILE_NAME))
    if (!isTableFileName(name)) return { path, message: NAME_FAULT }
    // JSON has escapes for what UTF-8 cannot contain.
    return text.isWellFormed() ? [] : { path, message: 'has half of a surrogate pair' }
  })
  return faults.length === 0 ? null : inputInvalid(faults.slice(0, 10))
}

const NAME_FAULT = 'has a name that is not letters, digits, ., _ and -, with .yaml or .yml at its end'

/** The refusal of tables that an instance cannot use. */
export function refusedTables({ faults: ofInstances }: RefusedTables): AdminRefusal {
  const faults = ofInstances.flatMap(({ instance, faults: each }) =>
    each.map((fault) => ({ instance, ...fault })),
  )
  const [first] = faults
  const place = first === undefined || first.line === 0 ? '' : `${first.file}:${first.line}:${first.column}: `
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
  return {
    refused: 'tables_refused',
    detail: `Nothing was changed. ${place}${first?.message ?? 'an instance refused the tables'}${more}`,
    members: { faults },
  }
}
