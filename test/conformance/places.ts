/** Where `npm run test:suites` puts the suites that it fetches and builds. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../support/servers/cache.ts'

const interop = join(cacheFolder(), 'grpc-interop')

export const places = {
  llhttp: join(cacheFolder(), 'llhttp'),
  interop,
  interopClient: join(interop, 'client'),
  interopServer: join(interop, 'server'),
}

/** False, or why a test is skipped. */
export function absent(...paths: readonly string[]): string | false {
  return paths.every((path) => existsSync(path)) ? false : 'not here: `npm run test:suites` fetches it'
}
