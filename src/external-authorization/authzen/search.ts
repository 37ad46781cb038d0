/**
 * `POST /access/v1/search/subject`, `…/resource` and `…/action` (Authorization API 1.0, section 8). Each
 * result is decided as a question of its own: an evaluation of it is `true`.
 */

import { TimeShare } from '../../../seats-admin/model/time-share.ts'
import { isJsonObject } from '../../lib/json.ts'
import { Refusal } from '../../model/errors.ts'
import { type CandidateDeps, type Candidates, candidatesFor } from './candidates.ts'
import type { Decisions } from './authzen-decisions.ts'
import { pageOf, type SearchPage, tokenOf } from './search-page.ts'
import { BodyReader, invalid, notObject, type SearchRequest, type Sought } from './authzen-requests.ts'

interface SearchAsker {
  readonly tenant: string
  /** The secrets of the tenant's tokens. */
  readonly secrets: readonly Uint8Array[]
}

export interface SearchAnswer {
  readonly page: { readonly next_token: string; readonly count: number }
  readonly results: readonly unknown[]
}

/** The most candidates that one request examines: a page may be short, or empty, although more follow. */
const MAX_EXAMINED = 1000
/** Candidates that are read at once. */
const CHUNK = 100

/** Rejects when the store can't be read. */
export async function search(
  body: unknown,
  sought: Sought,
  asker: SearchAsker,
  decisions: Decisions,
  deps: CandidateDeps,
): Promise<SearchAnswer | Refusal> {
  if (!isJsonObject(body)) return notObject
  const reader = new BodyReader()
  const question = reader.search(body, sought)
  const askedPage = reader.page(body)
  if (reader.faults.length > 0) return invalid(reader.faults)
  const scope = { secrets: asker.secrets, bound: boundOf(question, sought, asker) }
  const page = pageOf(askedPage, scope)
  if (page instanceof Refusal) return page
  const candidates = candidatesFor(question, sought, asker.tenant, deps)
  const { results, next } = await permitted(candidates, question, page, decisions)
  return { page: { next_token: tokenOf(next, scope), count: results.length }, results }
}

function boundOf(
  { subject, action, resource, space }: SearchRequest,
  sought: Sought,
  { tenant }: SearchAsker,
) {
  return [tenant, sought, subject.type, subject.id, action, resource.type, resource.id, space]
}

async function permitted(
  candidates: Candidates,
  { space }: SearchRequest,
  { limit, after }: SearchPage,
  decisions: Decisions,
): Promise<{ results: unknown[]; next: SearchPage | null }> {
  const results: unknown[] = []
  const share = new TimeShare()
  let from = after
  // A page with few candidates, or none, costs as much as a full one.
  for (let examined = 0; examined < MAX_EXAMINED; examined += CHUNK) {
    const { data, next } = await candidates({ limit: CHUNK, after: from })
    for (const { question, result, key } of data) {
      if (results.length === limit) return { results, next: { limit, after: from } }
      await share.next()
      if ((await decisions.decide({ ...question, space })) === 'allow') results.push(result)
      from = key
    }
    from = next
    if (from === null) return { results, next: null }
    if (results.length === limit) break
  }
  return { results, next: { limit, after: from } }
}
