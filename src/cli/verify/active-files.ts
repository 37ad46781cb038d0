/** The active files of the route tables, to which a run adds one. */

import type { TableFiles } from '../../../seats-admin/model/tables-version.ts'
import type { ActiveTablesView } from '../remote/endpoint-answers.ts'
import type { Gateway } from '../remote/gateway-client.ts'
import type { CycleRequest } from './cycle-request.ts'

const TABLES = '/v1/tables'

/** Removes the file from the active tables. Nothing happens if it is not there. @throws CommandFailed */
export async function removeFile(gateway: Gateway, file: string): Promise<void> {
  const { files, tag } = await activeOf(gateway)
  if (!Object.hasOwn(files, file)) return
  const { [file]: _, ...others } = files
  const { path, at: _space, ...sent } = pushOf(others, tag)
  await gateway.send(path, sent)
}

export async function activeOf(
  gateway: Gateway,
): Promise<{ readonly files: TableFiles; readonly tag: string }> {
  const { value, tag } = await gateway.send<ActiveTablesView>(TABLES, { method: 'GET', query: { limit: 1 } })
  return { files: value.files, tag: tag ?? '' }
}

export function pushOf(files: TableFiles, ifMatch: string): CycleRequest {
  return { method: 'PUT', path: TABLES, at: 'admin', body: { files }, ifMatch }
}
