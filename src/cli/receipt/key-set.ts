/** The key set that verifies receipts: a file, or the address of a gateway's key set. */

import { readFile } from 'node:fs/promises'
import { request } from 'undici'
import { isKeySet } from '../../identity/receipt.ts'
import { CommandFailed, messageOf } from '../command.ts'

/** The time limit of the answer in ms. */
const TIMEOUT = 30_000
/** Characters of a key set. */
const MOST = 1024 * 1024

/** @param place a URL, or the path of a file. @throws CommandFailed if it cannot be read as one */
export async function keySetAt(place: string): Promise<string> {
  const text = await (/^https?:\/\//i.test(place) ? fetched(place) : readText(place))
  if (text.length > MOST) throw new CommandFailed(`the key set at ${place} has more than ${MOST} characters`)
  if (!isKeySet(text)) throw new CommandFailed(`${place} has no JSON Web Key Set`)
  return text
}

/** The text of a file. @throws CommandFailed */
export function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new CommandFailed(`${path} cannot be read: ${messageOf(cause)}`)
  })
}

async function fetched(place: string): Promise<string> {
  if (!URL.canParse(place)) throw new CommandFailed(`--jwks ${place} is not a URL`)
  try {
    const { statusCode, body } = await request(place, { signal: AbortSignal.timeout(TIMEOUT) })
    if (statusCode === 200) return await body.text()
    await body.dump()
    throw new CommandFailed(`${place} has no key set: the answer has status ${statusCode}`)
  } catch (cause) {
    if (cause instanceof CommandFailed) throw cause
    throw new CommandFailed(`the key set at ${place} cannot be read: ${messageOf(cause)}`)
  }
}
