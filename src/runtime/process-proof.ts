/**
 * A proof that a process has ended, for processes of the same machine: what it had open ended with it. An
 * instance registers who it is, and each instance can look for it.
 */

import { readFileSync, readlinkSync } from 'node:fs'

/** The states of a process that has ended, and whose parent has not asked how (proc(5), `/proc/pid/stat`). */
const ENDED: ReadonlySet<string | undefined> = new Set(['Z', 'X'])

/**
 * This process: the start of the machine, the namespace of process ids, the id, and the start of the process.
 * Host names of containers may be equal, and ids are used again.
 *
 * @returns null where the kernel does not tell, as on other systems than Linux
 */
export function ownProcess(): string | null {
  const { pid } = process
  const began = statOf(pid)?.began
  const machine = ownMachine()
  return machine === null || began === undefined ? null : `${machine} ${pid} ${began}`
}

/**
 * Whether a process has certainly ended.
 *
 * @param text of {@link ownProcess} there; null: it is not known
 */
export function hasEnded(text: string | null): boolean {
  const [start, namespace, id, began] = text?.split(' ') ?? []
  const pid = Number(id)
  if (!Number.isSafeInteger(pid) || pid <= 0 || `${start} ${namespace}` !== ownMachine()) return false
  try {
    process.kill(pid, 0)
  } catch (cause) {
    // EPERM: it is of another user.
    if (cause instanceof Error && 'code' in cause && cause.code === 'ESRCH') return true
  }
  const stat = statOf(pid)
  return stat !== null && (stat.began !== began || ENDED.has(stat.state))
}

function ownMachine(): string | null {
  try {
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${start} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return null
  }
}

/** Null: there is no such process, or its files are hidden (`hidepid`). */
function statOf(
  pid: number,
): { readonly state: string | undefined; readonly began: string | undefined } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program may have spaces and parentheses. The state is the third field, the start the
    // 22nd.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0], began: fields[19] }
  } catch {
    return null
  }
}
