/**
 * The reachable memory of a Node.js process after a full garbage collection, from its inspector, which it opens at
 * SIGUSR1. Resident memory is what the process has taken, not what it needs.
 */

import type { ChildProcess } from 'node:child_process'

const LISTENING = /Debugger listening on (ws:\/\/\S+)/

interface Usage {
  readonly usedSize: number
  /** Array buffers, which lie outside the heap. */
  readonly backingStorageSize?: number
}

const known = new WeakMap<ChildProcess, Promise<string>>()

/** Reachable bytes, array buffers included. */
export async function liveHeap(child: ChildProcess, pid: number): Promise<number> {
  const place = known.get(child) ?? opened(child, pid)
  known.set(child, place)
  const session = await Session.open(await place)
  try {
    await session.call('HeapProfiler.enable')
    await session.call('HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize = 0 } = (await session.call('Runtime.getHeapUsage')) as Usage
    return usedSize + backingStorageSize
  } finally {
    session.close()
  }
}

/** Standard error has the inspector's address. */
function opened(child: ChildProcess, pid: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const look = (chunk: Buffer) => {
      text += chunk
      const place = LISTENING.exec(text)?.[1]
      if (place === undefined) return
      child.stderr?.off('data', look).resume()
      resolve(place)
    }
    child.stderr?.on('data', look)
    child.once('exit', () => reject(new Error('the process ended before its inspector opened')))
    process.kill(pid, 'SIGUSR1')
  })
}

class Session {
  readonly #socket: WebSocket
  #calls = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
  }

  static open(place: string): Promise<Session> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(place)
      socket.addEventListener('open', () => resolve(new Session(socket)), { once: true })
      socket.addEventListener('error', () => reject(new Error('the inspector does not answer')), {
        once: true,
      })
    })
  }

  /** One command at a time. Rejects when the process ends before it answers. */
  call(method: string): Promise<unknown> {
    const id = ++this.#calls
    return new Promise((resolve, reject) => {
      const receive = ({ data }: MessageEvent) => {
        const answer = JSON.parse(String(data))
        if (answer.id !== id) return
        this.#socket.removeEventListener('message', receive)
        if (answer.error === undefined) resolve(answer.result)
        else reject(new Error(`${method}: ${answer.error.message}`))
      }
      this.#socket.addEventListener('message', receive)
      this.#socket.addEventListener('close', () => reject(new Error(`${method} was not answered`)), {
        once: true,
      })
      this.#socket.send(JSON.stringify({ id, method }))
    })
  }

  close(): void {
    this.#socket.close()
  }
}
