/** What is wrong with bytes that should be a request. Thrown by who reads them, and made where they end too early. */

/** What came is no request. Its message is for who has sent it. */
export class RequestFault extends Error {
  readonly kind: 'malformed' | 'bad-target' | 'large-target' | 'large-head' | 'large-body'

  constructor(kind: RequestFault['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export function malformed(detail: string): RequestFault {
  return new RequestFault('malformed', detail)
}

export function bodyTooLong(): RequestFault {
  return new RequestFault('large-body', 'The body is larger than anybody counts.')
}
