/** A gateway in a process of its own, and `seatgate verify` against it. */

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { adminRequest, Client } from '../../support/client.ts'
import { writeConfiguration } from '../../support/configuration.ts'
import { bundled } from '../../support/bundled.ts'
import { GatewayProcess } from '../../support/gateway-process.ts'
import { serverFolder } from '../../support/servers/folder.ts'
import { reservePort } from '../../support/servers/ports.ts'
import { until } from '../../support/until.ts'
import { MAIN, outcomeOf, seatgate, SECRET } from '../command-line.ts'

export const SPACE = 'main'

export type Gate = Awaited<ReturnType<typeof startGate>>

export async function startGate(t: Test) {
  const folder = serverFolder(t, 'verified')
  const port = await reservePort(t)
  writeConfiguration(folder, {
    listen: `127.0.0.1:${port}`,
    top: [`advertise: http://localhost:${port}`],
  })
  const bootstrapped = await seatgate(folder, ['bootstrap', '--tenant', 'acme', '--out', 'admin.key'], {
    GLOBEX_SECRET: `${SECRET}, of globex`,
  })
  if (bootstrapped.code !== 0) throw new Error(bootstrapped.err)
  const gateway = await (await GatewayProcess.launch(t, { folder })).listens()
  const key = readFileSync(join(folder, 'admin.key'), 'utf8').trim()
  const client = new Client(gateway.port)
  t.teardown(() => client.close())
  const admin = (method: string, path: string, body?: unknown) =>
    client.send(method, path, ...adminRequest(key, body))
  const start = (...args: string[]) => {
    const env = { ...process.env, ...bundled(), SEATGATE_URL: gateway.origin, SEATGATE_API_KEY: key }
    const child = spawn(process.execPath, [MAIN, 'verify', '--space', SPACE, ...args], { cwd: folder, env })
    t.teardown(() => child.kill('SIGKILL'))
    return child
  }
  /** A busy machine may miss a timeout of the store: 503. */
  const listed = (path: string): Promise<{ name: string; revoked_at?: string }[]> =>
    until(async () => {
      const { status, json } = await admin('GET', path)
      return status === 200 && json.data
    }, path)
  /** Names of Seats and of keys in force, in order. */
  const names = async () => {
    const all = [...(await listed('/v1/seats?limit=100')), ...(await listed('/v1/api-keys?limit=100'))]
    return all.flatMap(({ name, revoked_at: revoked }) => (revoked === undefined ? [name] : [])).toSorted()
  }
  return { gateway, folder, key, admin, names, start, run: (...args: string[]) => outcomeOf(start(...args)) }
}
