/** Settings of a connection pool whose times are not reached in a test. */

import type { PoolSettings } from '../../../src/http/client/request-pool.ts'

export function poolSettings(port: number): PoolSettings {
  return {
    host: '127.0.0.1',
    port,
    tls: null,
    authority: `127.0.0.1:${port}`,
    http2: false,
    connectTimeout: 60_000,
    bodyTimeout: 60_000,
    keepAlive: 60_000,
    keepAliveMax: 60_000,
    connections: 10,
    uploads: 5,
    evictionDelay: 60_000,
  }
}
