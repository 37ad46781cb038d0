/**
 * Loaded into a gateway and its workers by `--import`. While the working folder has a file `hold`, a worker that
 * listens does not say so; it writes the file `listens`.
 */

import cluster from 'node:cluster'
import { existsSync, writeFileSync } from 'node:fs'

const { send } = process

if (cluster.isWorker && send !== undefined) {
  const pass = (...args: unknown[]): boolean => Reflect.apply(send, process, args)
  process.send = (...args: unknown[]): boolean => {
    if (!saysThatItListens(args[0]) || !existsSync('hold')) return pass(...args)
    writeFileSync('listens', '')
    const timer = setInterval(() => {
      if (existsSync('hold')) return
      clearInterval(timer)
      pass(...args)
    }, 10)
    return true
  }
}

function saysThatItListens(message: unknown): boolean {
  const { value } = message as { readonly value?: unknown }
  return typeof value === 'object' && value !== null && 'addresses' in value
}
