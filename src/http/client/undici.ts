/** undici, loaded when it is first needed: it costs 7 MiB, and upstreams without health checks do without it. */

import { createRequire } from 'node:module'
import type * as undici from 'undici'

const require = createRequire(import.meta.url)

export function loadUndici(): typeof undici {
  return require('undici')
}
