/**
 * Copies a small part of a buffer, which would keep the whole buffer in memory.
 *
 * @returns the bytes, in a buffer at most twice as large
 */
export function compactBuffer(bytes: Buffer): Buffer {
  if (bytes.length * 2 >= bytes.buffer.byteLength) return bytes
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}
