/**
 * The refusals that the gateway sends itself: code, HTTP status and title.
 * Expected refusals are values ({@link Refusal}). The request path throws none of them.
 */

/**
 * The table of codes. Clients rely on the codes: add to them, never rename one. A title is the same text for
 * every occurrence (RFC 9457, section 3.1.3).
 */
export const errors = {
  request_malformed: { status: 400, title: 'The request could be read in more than one way' },
  path_ambiguous: { status: 400, title: 'The path could be read in more than one way' },
  space_required: { status: 400, title: 'The request names no space' },
  space_conflict: { status: 400, title: 'The Space header contradicts the request' },
  input_invalid: { status: 400, title: 'The input is not valid' },
  credentials_ambiguous: { status: 400, title: 'The credentials could be read in more than one way' },
  credentials_missing: { status: 401, title: 'Credentials are required' },
  api_key_invalid: { status: 401, title: 'The API key is not valid' },
  api_key_expired: { status: 401, title: 'The API key has expired' },
  api_key_revoked: { status: 401, title: 'The API key has been revoked' },
  token_invalid: { status: 401, title: 'The token is not valid' },
  token_expired: { status: 401, title: 'The token has expired' },
  token_revoked: { status: 401, title: 'The token has been revoked' },
  token_not_yet_valid: { status: 401, title: 'The token is not valid yet' },
  tenant_mismatch: { status: 403, title: 'The route is for callers of another tenant' },
  no_seat_in_space: { status: 403, title: 'No Seat in this space' },
  permission_denied: { status: 403, title: 'No Seat in this space holds the permission' },
  caller_blocked: { status: 403, title: 'The caller is blocked' },
  origin_refused: { status: 403, title: 'A page from another origin made the request' },
  peer_refused: { status: 403, title: 'The peer may not request decisions' },
  preflight_refused: { status: 403, title: 'The preflight is refused' },
  grant_exceeds_own: { status: 403, title: 'A caller can grant only permissions that it holds' },
  subject_foreign: { status: 403, title: 'The subject belongs to another issuer' },
  route_not_found: { status: 404, title: 'No route matches' },
  seat_not_found: { status: 404, title: 'No such Seat' },
  api_key_not_found: { status: 404, title: 'No such API key' },
  user_not_found: { status: 404, title: 'No such user' },
  block_not_found: { status: 404, title: 'No such block' },
  session_not_found: { status: 404, title: 'No such session' },
  revocation_not_found: { status: 404, title: 'No such revocation' },
  grant_not_found: { status: 404, title: 'No such grant' },
  tables_not_found: { status: 404, title: 'No such version of the route tables' },
  scim_not_configured: { status: 404, title: 'The tenant has no SCIM' },
  method_not_allowed: { status: 405, title: 'The path does not allow this method' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  seat_name_taken: { status: 409, title: 'Another Seat has this name' },
  last_administrator: { status: 409, title: 'The tenant would have no Seat that can administer it' },
  tables_refused: { status: 409, title: 'An instance cannot use the route tables' },
  tables_in_files: { status: 409, title: 'The route tables are not in the store' },
  precondition_failed: { status: 412, title: 'The resource has a different version' },
  body_too_large: { status: 413, title: 'The body is too large' },
  uri_too_long: { status: 414, title: 'The request target is too long' },
  media_type_unsupported: { status: 415, title: 'The media type is not supported' },
  subject_unsupported: { status: 422, title: 'The subject cannot be resolved' },
  upgrade_required: { status: 426, title: 'Another protocol version is required' },
  precondition_required: { status: 428, title: 'The request must have If-Match' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The header section is too large' },
  upstream_unreachable: { status: 502, title: 'The upstream could not be reached' },
  upstream_protocol_error: { status: 502, title: 'The upstream violated the protocol' },
  unavailable: { status: 503, title: 'The gateway cannot decide at the moment' },
  upstream_timeout: { status: 504, title: 'The upstream did not answer in time' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>

export type ErrorCode = keyof typeof errors

/** One fault of an input. `path` is a JSON Pointer (RFC 6901); `''` is the whole document. */
export interface InputFault {
  readonly path: string
  readonly message: string
}

/**
 * A refusal in another form than a problem document: as HTML for a browser that loads a page, or as a
 * protocol requires.
 */
export interface RefusalPage {
  /** The Content-Type. */
  readonly type: string
  text(requestId: string): string
  /** Name, value, name, value, …; sent beside the header fields of every refusal. */
  readonly headers: readonly string[]
  /** The value of WWW-Authenticate; null: none; left out: as for every refusal. */
  readonly challenge?: string | null
}

/** The caller of a refused request, if its signature or key was right. */
export interface RefusedCaller {
  readonly tenant: string
  /** The user; null: the credential does not name one. */
  readonly user: string | null
}

/**
 * An expected refusal. The client sees `detail`: it never holds a credential, a stack or an internal address.
 */
export class Refusal {
  readonly code: ErrorCode
  readonly detail: string
  /** Faults of the input, with `input_invalid`. */
  readonly faults: readonly InputFault[] | null
  /** Further members of the problem document, such as `faults` with `tables_refused`; null: none. */
  readonly members: Readonly<Record<string, unknown>> | null
  /** The value of `Allow`, with `method_not_allowed` (RFC 9110, section 10.2.1). */
  readonly allow: string | null
  /**
   * Milliseconds after which the request may come again, with `rate_limited` and `unavailable`; null: the
   * refusal does not say.
   */
  readonly retryAfter: number | null
  /** Sent in place of the problem document; null: the problem document is sent. */
  readonly page: RefusalPage | null
  /** The caller, for the log alone; null: not known, or the decision has its principal. */
  readonly caller: RefusedCaller | null

  constructor(
    code: ErrorCode,
    detail: string,
    more: Partial<Pick<Refusal, 'allow' | 'retryAfter' | 'page' | 'caller'>> & {
      faults?: Refusal['faults'] | undefined
      members?: Refusal['members'] | undefined
    } = {},
  ) {
    this.code = code
    this.detail = detail
    this.faults = more.faults ?? null
    this.members = more.members ?? null
    this.allow = more.allow ?? null
    this.retryAfter = more.retryAfter ?? null
    this.page = more.page ?? null
    this.caller = more.caller ?? null
  }

  get status(): number {
    return errors[this.code].status
  }

  /** The same refusal with a page. */
  withPage(page: RefusalPage): Refusal {
    return new Refusal(this.code, this.detail, { ...this, page })
  }

  /** The same refusal, with its caller. */
  of({ tenant, user }: RefusedCaller): Refusal {
    return new Refusal(this.code, this.detail, { ...this, caller: { tenant, user } })
  }
}
