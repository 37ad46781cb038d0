/**
 * `NODE_EXTRA_CA_CERTS`: authorities that Node.js adds to the public ones, for identity providers and for every other server
 * whose settings name none. Node.js reads the file itself, takes the part of it that OpenSSL can read, and goes on without
 * it: so it is read here first, as other files are.
 */

import { authorityTime, readPemFile } from './pem.ts'
import { InvalidValue, Undetermined } from './invalid-value.ts'

const VARIABLE = 'NODE_EXTRA_CA_CERTS'

/**
 * @param env of the process: Node.js does not read `.env`
 * @param now ms since the epoch
 * @returns what is wrong and what to do; null: nothing, or the variable is not set
 */
export function extraAuthoritiesFault(env: NodeJS.ProcessEnv, now: number): string | null {
  const file = env[VARIABLE] ?? ''
  if (file === '') return null
  const fault = faultOf(file, now)
  return fault === null ? null : `${VARIABLE} names ${fault}. Correct the file, or unset the variable.`
}

function faultOf(file: string, now: number): string | null {
  const pem = readPemFile(file, 'authorities')
  // What names no file may be a secret that was set by mistake.
  if (pem instanceof Undetermined) return `a file that ${pem.message}`
  const fault = pem instanceof InvalidValue ? pem.message : authorityTime(pem, now)
  return fault === null ? null : `the file ${JSON.stringify(file)}, which ${fault}`
}
