/** The upstream of the gRPC row, and whether this revision of Seatgate can reach it. */

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadCores } from './cores.ts'
import { freePort, Program } from './program.ts'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** The schema of the configuration has `protocol: h2c`. Without it the row is left out. */
export const knowsH2c: boolean = readFileSync(pathOf('../src/config/gateway.schema.json'), 'utf8').includes(
  '"h2c"',
)

export async function startGrpcUpstream(parent: string): Promise<Program> {
  const folder = join(parent, 'grpc')
  mkdirSync(folder)
  const port = await freePort()
  const command = [process.execPath, pathOf('./servers/grpc-upstream.ts'), `${port}`]
  return Program.start({ command, port, cores: loadCores(1), folder })
}
