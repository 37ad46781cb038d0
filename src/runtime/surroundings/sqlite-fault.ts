/** Why the file of the embedded store could not be opened. */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Finding, type Reason, thisUser } from './fault.ts'
import { findingTable } from './finding-table.ts'

const NO_FOLDER = 'ENOENT'
const FORBIDDEN = 'EACCES EPERM SQLITE_PERM SQLITE_READONLY SQLITE_CANTOPEN'

const findings = findingTable({
  [FORBIDDEN]: [
    '{user} may not write the store {path} or its folder ({code})',
    'Give this user the right to read and write the folder {folder} and the files in it, or choose another path in {setting}',
  ],
  EROFS: [
    'the folder {folder} is on a file system that is mounted read-only (EROFS)',
    'Mount it for writing, or choose another path in {setting}',
  ],
  [NO_FOLDER]: [
    'the folder {folder} does not exist and cannot be created ({code})',
    'Create it so that {user} may read and write it, or correct the path in {setting}',
  ],
  'ENOTDIR EEXIST': [
    '{folder}, or a folder above it, is a file ({code})',
    'Correct the path in {setting}, or move that file away',
  ],
  'ENOSPC EDQUOT SQLITE_FULL': [
    'the disk of the store {path} is full ({code})',
    'Free some space for the folder {folder}, 1 MiB at least, or choose another path in {setting}',
  ],
  'SQLITE_NOTADB NOT_A_STORE': [
    'the file {path} is not a Seatgate store, and was left as it is ({message})',
    'Choose another path in {setting}, or move the file away; a missing file is created',
  ],
  'SQLITE_CORRUPT DAMAGED': [
    '{message}',
    'Restore the file from a backup, after the removal of its -wal and -shm files',
  ],
  NEWER_SCHEMA: [
    '{message}',
    'Start the newer Seatgate, or restore a backup that is older than its first start, or choose another path in {setting}',
  ],
  SQLITE_BUSY: [
    'another program has locked the store {path} (SQLITE_BUSY)',
    'Close that program, which "fuser -v {path}" shows, then start again',
  ],
  TIMEOUT: [
    'SQLite has not opened the store {path} yet',
    'Wait while it recovers and checks the file, and raise startup_timeout for a large file; otherwise look for a slow disk',
  ],
  GATEWAY: [
    '{message}',
    'Stop that gateway, or choose another path in {setting}; gateways share a PostgreSQL store',
  ],
  IN_USE: [
    '{message}',
    '"fuser -v" with the path shows that process; another gateway needs another path in {setting}',
  ],
  other: ['{message}', 'Correct this, or choose another path in {setting}'],
})

/**
 * @param path absolute
 * @param setting what to edit
 */
export function sqliteFinding(path: string, setting: string, { code, message }: Reason): Finding {
  const folder = dirname(path)
  const isFolderMissing = FORBIDDEN.split(' ').includes(code) && !existsSync(folder)
  const values = { path, folder, setting, code, message, user: thisUser() }
  return findings(isFolderMissing ? NO_FOLDER : code, values)
}
