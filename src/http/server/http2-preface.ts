/**
 * Tells HTTP/2 with prior knowledge from HTTP/1.1 on one port (RFC 9113, sections 3.3 and 3.4), by the first bytes of a
 * connection.
 */

import type { Socket } from 'node:net'

/** The beginning of the preface of HTTP/2. No other method of HTTP begins with these bytes. */
const PREFACE = Buffer.from('PRI ')

/**
 * Waits for as many bytes as tell the version, and returns them to the socket. Calls back once, or never if the connection
 * is closed before. The caller sets the timeout.
 */
export function readPreface(socket: Socket, done: (isHttp2: boolean) => void): void {
  let bytes: Buffer = Buffer.alloc(0)
  const stop = () => {
    socket.off('readable', read).off('end', ended).off('close', stop).off('error', ignore)
  }
  const finish = () => {
    stop()
    if (bytes.length > 0) socket.unshift(bytes)
    done(bytes.length >= PREFACE.length && bytes.subarray(0, PREFACE.length).equals(PREFACE))
  }
  const read = () => {
    for (let chunk: Buffer | null = socket.read(); chunk !== null; chunk = socket.read())
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    const common = Math.min(bytes.length, PREFACE.length)
    const mayBe = bytes.subarray(0, common).equals(PREFACE.subarray(0, common))
    if (bytes.length > 0 && (!mayBe || common === PREFACE.length)) finish()
  }
  // Without a byte more there is no request to answer.
  const ended = () => {
    stop()
    socket.on('error', ignore)
    socket.destroy()
  }
  socket.on('readable', read).on('end', ended).on('close', stop).on('error', ignore)
}

function ignore(): void {}
