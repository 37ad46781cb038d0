/** `/v1/blocks`: users that are refused with every token and session. */

import { orNull, strictObject, text, type ValueOf } from '../model/json-schema.ts'
import {
  grantExceedsOwn,
  inputInvalid,
  blockNotFound,
  isRefusal,
  type AdminRefusal,
} from '../model/refusal.ts'
import type { BlockInput } from '../store/store.ts'
import { parseDateTime } from './date-time.ts'
import {
  type AdminDeps,
  type AdminEndpoint,
  endpoint,
  noContent,
  respondToWrite,
  writerOf,
} from './admin-endpoint.ts'
import { ID, PAGE, pageOf, SUB } from './parameters.ts'
import { checker } from './validate-body.ts'
import { block, createdBlock, listing } from './views.ts'
import { warned } from './warnings.ts'

const blockSchema = strictObject(
  { user: text('The `sub` of the user.', SUB) },
  {
    until: orNull(
      text('When the block ends. If it is absent or null, the block lasts until it is deleted.', {
        format: 'expiry',
        examples: ['2099-01-01T00:00:00Z'],
      }),
    ),
    reason: orNull(
      text('The reason, for people to read.', {
        maxLength: 1024,
        format: 'well-formed',
        examples: ['left the company'],
      }),
    ),
  },
)

export const blockBody = checker(blockSchema)

const params = { id: text('The id of the block.', ID) }
const blocks = listing(block)

/** A user belongs to the tenant: outside the admin space no block can be seen or made. */
export function blockEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/blocks',
      permission: 'blocks:create',
      operation: 'createBlock',
      summary: 'Blocks a user: every token and session of the user is refused.',
      details:
        'Holds for the whole tenant, and is allowed in the admin space alone. Sessions stay, and are accepted again when the block ends.',
      body: blockBody,
      answers: { 200: createdBlock.schema },
      codes: ['grant_exceeds_own', 'unavailable'],
      async handle({ body, caller }) {
        const writer = writerOf(caller, deps)
        const input = blockInput(body, writer.now)
        if (isRefusal(input)) return input
        if (!caller.scope.admin) return onlyAdminSpace
        const write = deps.store.createBlock(writer, input)
        return respondToWrite(write, deps, async (made, written) => ({
          status: 200,
          body: await warned(createdBlock(made), caller, deps, written),
        }))
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/blocks',
      permission: 'blocks:list',
      operation: 'listBlocks',
      summary: 'Lists the blocks in force.',
      details: 'Only in the admin space; in other spaces the list is empty.',
      query: PAGE,
      answers: { 200: blocks.schema },
      codes: [],
      async handle({ query, caller: { tenant, scope } }) {
        const page = scope.admin ? await deps.store.listBlocks(tenant, pageOf(query)) : NOTHING
        return { status: 200, body: blocks(page) }
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/v1/blocks/{id}',
      permission: 'blocks:delete',
      operation: 'deleteBlock',
      summary: 'Ends a block.',
      details: 'The tokens and sessions of the user are accepted again if they have not ended or expired.',
      params,
      answers: { 204: null },
      codes: ['block_not_found'],
      async handle({ params: { id }, caller }) {
        if (!caller.scope.admin) return blockNotFound
        return respondToWrite(deps.store.deleteBlock(writerOf(caller, deps), id), deps, noContent)
      },
    }),
  ]
}

const NOTHING = { data: [], hasMore: false }

const onlyAdminSpace: AdminRefusal = {
  ...grantExceedsOwn,
  detail: 'A block concerns the whole tenant: it can be made in the admin space alone.',
}

/** @param now ms since the epoch; `until` must be later */
function blockInput(body: ValueOf<typeof blockSchema>, now: number): BlockInput | AdminRefusal {
  const { user, until: end = null, reason = null } = body
  const until = end === null ? null : parseDateTime(end)
  if (until !== null && until <= now)
    return inputInvalid([{ path: '/until', message: 'must be in the future' }])
  return { user, until, reason }
}
