/** Asks a target whether it speaks HTTP/2, without a request. */

import type { Address } from './connector.ts'
import { Http2Connection } from './http2-client-connection.ts'
import { ClientClosed } from './upstream-request.ts'

/**
 * Resolves when the target has sent its SETTINGS. Rejects with a NoHttp2, or an error of the network or of TLS.
 *
 * @param timeout ms for all of it
 */
export function probeHttp2(address: Address, authority: string, timeout: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const times = { connectTimeout: timeout, bodyTimeout: timeout, keepAlive: timeout, keepAliveMax: timeout }
  new Http2Connection(
    { ...address, authority, ...times },
    {
      connectionReady(connection) {
        resolve()
        connection.close(new ClientClosed('closed'))
      },
      connectionDraining() {},
      connectionClosed(_, error) {
        reject(error)
      },
      requestReturned() {},
      uploadFinished() {},
    },
  )
  return promise
}
