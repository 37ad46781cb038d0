/** A fleet whose gateways break while they run, in the ways of `broken-seatgate.ts`. */

import { existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '../support/until.ts'
import type { FleetGateway } from './gateway.ts'

const BROKEN_SEATGATE = fileURLToPath(new URL('./broken-seatgate.ts', import.meta.url))

/** `seatgate` does this itself: types are stripped once, not at each start. */
const CACHED = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') }

/** Options of the fleet. */
export const BREAKABLE = { program: [BROKEN_SEATGATE], envOf: () => CACHED } as const

/** Resolves once the gateway works in this way. */
export async function applyVariant(variant: string, gateway: FleetGateway): Promise<void> {
  const file = join(dirname(gateway.file), 'variant')
  writeFileSync(file, variant)
  process.kill(gateway.pid, 'SIGUSR2')
  await until(() => !existsSync(file), `gateway ${gateway.name} with the variant ${variant}`)
}
