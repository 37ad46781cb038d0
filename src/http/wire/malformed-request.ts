/** What is wrong with bytes that should be a request. Thrown by who reads them, and made where they end too early. */

/** What came is no request. Its message is for who has sent it. */
export class MalformedRequest extends Error {
  readonly kind: 'malformed' | 'bad-target' | 'large-target' | 'large-head' | 'large-body'

  constructor(kind: MalformedRequest['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export function malformed(detail: string): MalformedRequest {
  return new MalformedRequest('malformed', detail)
}

export function bodyTooLong(): MalformedRequest {
  return new MalformedRequest('large-body', 'The body is larger than anybody counts.')
}
