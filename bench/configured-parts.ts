/** The settings of parts that are off by default. */

import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { listen } from '../test/support/listen.ts'
import type { Ending } from './harness.ts'
import type { ConfiguredPart } from './world.ts'

/** Resolves with the settings of a part; undefined: it needs none. */
export async function settingsOf(
  part: string,
  folder: string,
  ending: Ending,
): Promise<ConfiguredPart | undefined> {
  switch (part) {
    case 'rate-limit':
      return rateLimits('caller')
    case 'rate-limits':
      return rateLimits('caller', 'tenant', 'address')
    case 'identity':
      return { top: [`identity: { keys: [${JSON.stringify(writeKey(folder))}] }`] }
    case 'tracing-1':
      return tracing(await collector(ending), 'SAMPLER=traceidratio', 'SAMPLER_ARG=0.01')
    case 'tracing':
      return tracing(await collector(ending), 'SAMPLER=always_on')
    default:
      return undefined
  }
}

/** Rate limits that no load exceeds. */
function rateLimits(...per: string[]): ConfiguredPart {
  const limits = per.map((each) => `${each}: { limit: 1000000/s, per: ${each} }`)
  return { top: [`rate_limits: { ${limits.join(', ')} }`], table: [`rate_limit: [${per.join(', ')}]`] }
}

/** Writes a key for ES256. Returns its file. */
function writeKey(folder: string): string {
  const file = join(folder, 'identity.pem')
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  return file
}

function tracing(endpoint: string, ...sampler: string[]): ConfiguredPart {
  const variables = sampler.map((each) => `OTEL_TRACES_${each}`)
  return {
    variables: [`OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}`, 'OTEL_BSP_MAX_QUEUE_SIZE=65536', ...variables],
  }
}

/** Starts a collector that takes all spans. Resolves with its origin. */
async function collector(ending: Ending): Promise<string> {
  const server = createServer((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end())
  })
  return `http://127.0.0.1:${await listen(ending.t, server)}`
}
