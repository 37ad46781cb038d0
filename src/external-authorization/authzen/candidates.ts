/** What a search looks through, in a fixed order, page by page. */

import type { Grant, Page, Store } from '../../../seats-admin/index.ts'
import { needsPermission } from '../../model/route.ts'
import type { EvaluationRequest, SearchRequest, Sought } from './authzen-requests.ts'
import { MCP_ACTIONS, type Needed, neededFor } from './authzen-resources.ts'
import type { RouteIndex } from './route-index.ts'
import type { SearchPage } from './search-page.ts'
import { EVERYTHING, SUBJECT_TYPES, type SubjectType } from './subjects.ts'

export interface CandidateDeps {
  readonly store: Pick<Store, 'listSeats' | 'listApiKeys' | 'listUsers'>
  readonly index: () => RouteIndex
  /** The permissions that routes require, and those of the gateway itself. */
  readonly permissions: () => Iterable<string>
  /** The time in ms since the epoch. */
  readonly now: () => number
}

export interface Candidate {
  readonly question: Omit<EvaluationRequest, 'space'>
  /** The result as the answer has it. */
  readonly result: unknown
  /** The position in the order. */
  readonly key: string
}

/**
 * Reads a page. The limit is at least 1. `next` is `after` of the following page; null at the end. A page may
 * be short, or empty, although more follow.
 */
export type Candidates = (
  page: SearchPage,
) => Promise<{ readonly data: readonly Candidate[]; readonly next: string | null }>

const none: Candidates = async () => ({ data: [], next: null })

/** The candidates of a search. An unknown type has none. */
export function candidatesFor(
  question: SearchRequest,
  sought: Sought,
  tenant: string,
  deps: CandidateDeps,
): Candidates {
  if (sought === 'subject') return subjects(question, tenant, deps)
  const { subject, action, resource } = question
  if (sought === 'action')
    return inMemory(actionsOn(resource, deps.index()), (name) => ({
      question: { subject, action: name, resource },
      result: { name },
      key: name,
    }))
  const { type } = resource
  return inMemory(resourceIds(question, deps), (id) => ({
    question: { subject, action, resource: { type, id } },
    result: { type, id },
    key: id,
  }))
}

/**
 * Pages of keys in memory. A reload may have changed them since the page before: the keys after its position
 * follow.
 *
 * @param keys sorted
 */
function inMemory(keys: readonly string[], candidate: (key: string) => Candidate): Candidates {
  return async ({ limit, after }) => {
    const from = after === null ? 0 : keys.findIndex((key) => key > after)
    const page = from < 0 ? [] : keys.slice(from, from + limit)
    const isLast = from < 0 || from + limit >= keys.length
    return { data: page.map(candidate), next: isLast ? null : (page.at(-1) ?? null) }
  }
}

function resourceIds({ resource: { type }, action }: SearchRequest, deps: CandidateDeps): readonly string[] {
  if (type === 'permission') return [...deps.permissions()].sort()
  const index = deps.index()
  const called = MCP_ACTIONS.get(type)
  if (called !== undefined) return action === called.action ? index.lineIds(called.kind) : []
  if (type !== 'route') return []
  return index.ids.filter((id) => {
    const entries = index.entriesAt(id)
    return entries !== null && index.entryFor(entries, action) !== null
  })
}

/** A permission takes any action: its own operation stands for all. */
function actionsOn({ type, id }: EvaluationRequest['resource'], index: RouteIndex): readonly string[] {
  if (type === 'permission') return [id.slice(id.indexOf(':') + 1)]
  const called = MCP_ACTIONS.get(type)
  if (called !== undefined) return index.lineOf(called.kind, id) === null ? [] : [called.action]
  const entries = type === 'route' ? index.entriesAt(id) : null
  return entries === null ? [] : index.methods.filter((method) => index.entryFor(entries, method) !== null)
}

function subjects(question: SearchRequest, tenant: string, deps: CandidateDeps): Candidates {
  const type = SUBJECT_TYPES.find((each) => each === question.subject.type)
  const needed = neededFor(question, deps.index(), tenant)
  if (type === undefined || typeof needed === 'string') return none
  const grant = grantOf(needed, deps.now())
  if (grant === 'space_missing') return none
  const { action, resource } = question
  return async (page) => {
    const { holders, next } = await listed(type, tenant, { ...page, scope: EVERYTHING, grant }, deps)
    const data = holders.map(({ key, ...result }) => {
      const question = { subject: { type, id: result.id }, action, resource }
      return { question, result, key }
    })
    return { data, next }
  }
}

/**
 * Null: no Seat is needed, so that all are candidates. `space_missing`: a Seat is needed, and no space is
 * named.
 */
function grantOf({ requirement, space }: Needed, now: number): Grant | null | 'space_missing' {
  if (!needsPermission(requirement)) return null
  return space === null ? 'space_missing' : { permission: requirement, space, now }
}

interface Holder {
  readonly type: SubjectType
  readonly id: string
  readonly properties?: Readonly<Record<string, string>>
  readonly key: string
}

async function listed(
  type: SubjectType,
  tenant: string,
  page: Page,
  { store }: CandidateDeps,
): Promise<{ holders: Holder[]; next: string | null }> {
  if (type === 'seat') {
    const { data, next } = await store.listSeats(tenant, page)
    return { holders: data.map(({ id, name }) => ({ type, id: name, properties: { id }, key: id })), next }
  }
  if (type === 'api-key') {
    const { data, next } = await store.listApiKeys(tenant, page)
    return { holders: data.map(({ id, name }) => ({ type, id, properties: { name }, key: id })), next }
  }
  const { data, next } = await store.listUsers(tenant, page)
  return { holders: data.map(({ sub }) => ({ type, id: sub, key: sub })), next }
}
