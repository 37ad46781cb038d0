/** `seatgate health`: asks the gateway on this machine whether it answers, as a container's health check. */

import { type Address, isEveryAddress } from '../config/addresses.ts'
import { ConfigError } from '../config/faults.ts'
import { readOpsAddress } from '../config/ops-address.ts'
import { request } from '../lib/node-http.ts'
import { codeOf } from '../runtime/surroundings/fault.ts'
import { CONFIG } from './arguments.ts'
import { CommandFailed, defineCommand, messageOf } from './command.ts'

/** The time limit of the request in ms. */
const TIMEOUT = 5000

export const health = defineCommand({
  name: 'health',
  summary: 'Asks the gateway on this machine whether it answers, as the health check of a container.',
  details: `It requests /livez, or /readyz with --ready, at the address of ops in the configuration, and waits ${TIMEOUT / 1000} s for the response. It reads no other setting. A fault in the configuration does not make a running gateway unhealthy: without a readable ops, it tries the default.`,
  options: {
    config: CONFIG,
    ready: { description: 'asks whether it is ready for requests' },
  },
  exits: {
    0: 'the gateway answered 200',
    1: 'it answered with another status or not at all, or the configuration cannot be read',
  },
  example: 'seatgate health --ready',
  run: async ({ values: { config, ready = false } }, terminal) => {
    const { ops, faults } = await readOpsAddress(config, terminal.env)
    if (ops.port === 0)
      throw new CommandFailed(`ops in ${config} has port 0, which stands for any port: give it a fixed one`)
    const host = isEveryAddress(ops) ? '127.0.0.1' : ops.host
    const path = ready ? '/readyz' : '/livez'
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${ops.port}${path}`
    const answer = await ask({ host, port: ops.port }, path).catch(reasonOf)
    if (answer === 200) return terminal.print(`${url}: 200`)
    if (faults.length > 0) throw new ConfigError(faults)
    throw new CommandFailed(`${url} did not answer 200: ${answer}`)
  },
})

/** The reason of a failure. An attempt at several addresses of a name fails with a code and no message. */
function reasonOf(cause: unknown): string {
  return messageOf(cause) || codeOf(cause)
}

/** Sends the request. Rejects if no response comes. @returns the status */
function ask({ host, port }: Address, path: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  // The listener accepts localhost, whatever name its address has.
  const asking = request({ host, port, path, headers: { host: 'localhost' }, agent: false }, (response) => {
    resolve(response.statusCode)
    response.destroy()
  })
  const late = new Error(`no response within ${TIMEOUT / 1000} s`)
  const timer = setTimeout(() => asking.destroy(late), TIMEOUT)
  asking.once('error', reject)
  asking.once('close', () => clearTimeout(timer))
  asking.end()
  return promise
}
