/** What SCIM refuses, as a value (RFC 7644, section 3.12). */

/** The kinds of a 400 and of a 409. */
type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

export class ScimFault {
  /** Distinguishes it from an input, as of a `ScimRefusal`. */
  readonly refused = 'fault'
  readonly status: number
  /** Null if the status says it all. */
  readonly scimType: ScimType | null
  /** Public: it contains no value of the request. */
  readonly detail: string
  /** The seconds after which a request that got 503 may be repeated. */
  readonly retryAfter: number

  constructor(status: number, scimType: ScimType | null, detail: string, retryAfter = 1) {
    this.status = status
    this.scimType = scimType
    this.detail = detail
    this.retryAfter = retryAfter
  }
}

export function invalidValue(detail: string): ScimFault {
  return new ScimFault(400, 'invalidValue', detail)
}

export function invalidSyntax(detail: string): ScimFault {
  return new ScimFault(400, 'invalidSyntax', detail)
}

export function invalidPath(detail: string): ScimFault {
  return new ScimFault(400, 'invalidPath', detail)
}

const ERROR_URN = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** The JSON of an error. */
export function errorForm(status: number, scimType: string | null, detail: string) {
  return {
    schemas: [ERROR_URN],
    status: String(status),
    ...(scimType === null ? {} : { scimType }),
    detail,
  }
}
