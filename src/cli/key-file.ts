/** The file of a new API key, for its owner alone. */

import type { Option } from './arguments.ts'
import { withNewFile } from './new-file.ts'

/** The option that names the file. */
export const KEY_FILE = {
  value: 'FILE',
  description: 'writes the key to this new file, which only its owner may read, and does not print it',
  completes: 'file',
} as const satisfies Option

/**
 * Creates the file before the key: a key that cannot be written would be lost.
 *
 * @see withNewFile
 */
export function withKeyFile<R>(
  path: string | undefined,
  work: (write: ((key: string) => Promise<void>) | null) => Promise<R>,
): Promise<R> {
  return withNewFile(path, { option: '--out', refusal: 'no key is created', mode: 0o600 }, work)
}
