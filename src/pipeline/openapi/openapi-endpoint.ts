/** `GET /v1/openapi.json`: the OpenAPI document of the built-in endpoints. */

import { freeObject } from '../../../seats-admin/model/json-schema.ts'
import type { LocalHandler } from '../../model/route.ts'
import { openApiDocument } from './document.ts'
import type { Operation } from './operation.ts'

export const OPENAPI_OPERATION: Operation = {
  method: 'GET',
  path: '/v1/openapi.json',
  requirement: 'authenticated',
  operation: 'readOpenApi',
  summary: 'Reads the description of the built-in endpoints, including this one.',
  answers: { 200: freeObject('An OpenAPI 3.1 document.') },
  codes: [],
}

/** Built at the first request. It is the same for each caller. */
export function serveDocument(operations: readonly Operation[]): LocalHandler {
  let json: Buffer | null = null
  return async () => {
    json ??= Buffer.from(JSON.stringify(openApiDocument(operations)))
    return { status: 200, body: json }
  }
}
