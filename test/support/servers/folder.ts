/** Temporary folders, and their owners. */

import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

export interface User {
  readonly uid: number
  readonly gid: number
}

/** Makes a temporary folder, which is removed with the test. */
export function serverFolder(t: Pick<Test, 'teardown'>, name: string, user?: User): string {
  const folder = mkdtempSync(join(tmpdir(), `seatgate-${name}-`))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  giveTo(folder, user)
  return folder
}

/** Makes a path readable by its owner alone, because it holds passwords. */
export function giveTo(path: string, user: User | undefined, mode = 0o700): void {
  chmodSync(path, mode)
  if (user !== undefined) chownSync(path, user.uid, user.gid)
}

/** The user of PostgreSQL, which refuses to run as root: `nobody` if this process is root. */
export function ordinaryUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  const [, uid = '65534', gid = '65534'] =
    /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  return { uid: Number(uid), gid: Number(gid) }
}
