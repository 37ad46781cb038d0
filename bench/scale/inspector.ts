/**
 * The reachable memory of a Node.js process after a full garbage collection, from its inspector
 * (`--inspect`). Resident memory is what the process has taken, not what it needs.
 */

import { once } from 'node:events'
import type { GatewayProcess } from '../../test/support/gateway-process.ts'
import { until } from '../../test/support/until.ts'

interface Usage {
  readonly usedSize: number
  /** Bytes of array buffers, which lie outside the heap. */
  readonly backingStorageSize?: number
}

/** Reachable bytes, array buffers included. */
export async function liveHeap(gateway: GatewayProcess): Promise<number> {
  const address = () => /Debugger listening on (ws:\/\/\S+)/.exec(gateway.log)?.[1]
  const socket = new WebSocket(await until(address, 'the inspector'))
  await once(socket, 'open')
  try {
    await call(socket, 'HeapProfiler.enable')
    await call(socket, 'HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize = 0 } = (await call(socket, 'Runtime.getHeapUsage')) as Usage
    return usedSize + backingStorageSize
  } finally {
    socket.close()
  }
}

/** Resolves with the result of one command. Rejects if the process ends before it answers. */
function call(socket: WebSocket, method: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.onmessage = ({ data }) => {
      const { id, result, error } = JSON.parse(String(data))
      if (id !== 1) return
      if (error === undefined) resolve(result)
      else reject(new Error(`${method}: ${error.message}`))
    }
    socket.onclose = () => reject(new Error(`${method} was not answered`))
    socket.send(JSON.stringify({ id: 1, method }))
  })
}
