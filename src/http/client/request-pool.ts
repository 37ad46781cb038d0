/** The connections to one target, of HTTP/1.1 or HTTP/2, as the proxy sees them. */

import type { RequestOwner, ResponseReceiver, UpstreamRequest } from './upstream-request.ts'

export interface RequestPool {
  /** `close` or `destroy` was called. */
  readonly closed: boolean
  /** No upload slot is free. */
  readonly uploadsFull: boolean
  /** Sends the request as soon as a connection and, for an upload, a slot is free. */
  dispatch(request: UpstreamRequest, receiver: ResponseReceiver): void
  /** Removes a waiting request. @returns whether it was waiting; its receiver gets no further calls */
  cancel(receiver: ResponseReceiver): boolean
  /** Evicts a request of an owner that has more requests here than `owner`. @returns whether there was one */
  evictFor(owner: RequestOwner, uploads: boolean): boolean
  /** Resolves when the requests in flight have ended. */
  close(): Promise<void>
  /** Ends all requests at once. */
  destroy(): Promise<void>
}
