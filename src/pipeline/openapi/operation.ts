/** An operation of the OpenAPI document: a built-in endpoint, its requirement, and its refusals' codes. */

import type { EndpointDescription } from '../../../seats-admin/model/endpoint-description.ts'
import type { ErrorCode } from '../../model/errors.ts'
import { needsPermission, type Requirement } from '../../model/route.ts'
import { WITH_BODY } from '../whole-body.ts'

export interface Operation extends EndpointDescription<ErrorCode> {
  readonly requirement: Requirement
  /** Before the path; left out: nothing. */
  readonly prefix?: string
  /** A browser gets refusals as a page. */
  readonly pages?: boolean
  /** A browser's form gets this status with a page; left out: none. */
  readonly page?: number
}

interface CodeGroup {
  /** Completes "requests …". */
  readonly of: string
  readonly codes: readonly ErrorCode[]
  readonly includes: (operation: Operation) => boolean
}

/** The codes that an operation need not declare, because its kind has them. */
export const CODE_GROUPS: readonly CodeGroup[] = [
  {
    of: 'to any endpoint',
    codes: [
      'request_malformed',
      'path_ambiguous',
      'request_timeout',
      'body_too_large',
      'uri_too_long',
      'upgrade_required',
      'headers_too_large',
      'unavailable',
    ],
    includes: () => true,
  },
  {
    of: 'that need a credential',
    codes: [
      'credentials_ambiguous',
      'credentials_missing',
      'api_key_invalid',
      'api_key_expired',
      'api_key_revoked',
      'token_invalid',
      'token_expired',
      'token_revoked',
      'token_not_yet_valid',
      'caller_blocked',
    ],
    includes: ({ requirement }) => requirement !== 'public',
  },
  {
    of: 'that may change something, with a session cookie',
    codes: ['origin_refused'],
    includes: ({ method, requirement }) => requirement !== 'public' && method !== 'GET',
  },
  {
    of: 'that need a permission',
    codes: ['space_required', 'no_seat_in_space', 'permission_denied'],
    includes: ({ requirement }) => needsPermission(requirement),
  },
  {
    of: 'with a body or `If-Match`, or to an endpoint with parameters',
    codes: ['input_invalid'],
    includes: ({ method, query, conditional = false }) =>
      WITH_BODY.has(method) || query !== undefined || conditional,
  },
  {
    of: 'with `If-Match`',
    codes: ['precondition_failed'],
    includes: ({ conditional = false }) => conditional,
  },
  {
    of: 'with a body',
    codes: ['media_type_unsupported'],
    includes: ({ method }) => WITH_BODY.has(method),
  },
]

/** Without duplicates. */
export function codesOf(operation: Operation): ErrorCode[] {
  const groups = CODE_GROUPS.filter(({ includes }) => includes(operation))
  return [...new Set([...groups.flatMap(({ codes }) => codes), ...operation.codes])]
}
