/** The fault of bytes that do not form a valid request. */

/** The message is public: the client receives it as the problem detail. */
export class MalformedRequest extends Error {
  readonly kind: 'malformed' | 'http2' | 'bad-target' | 'large-target' | 'large-head' | 'large-body'

  constructor(kind: MalformedRequest['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

export function malformed(detail: string): MalformedRequest {
  return new MalformedRequest('malformed', detail)
}

export function bodyTooLong(): MalformedRequest {
  return new MalformedRequest('large-body', 'The body is larger than the gateway supports.')
}
