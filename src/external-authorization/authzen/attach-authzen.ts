/** Attaches the endpoints of AuthZEN to the decision listener. */

import type { Pipeline } from '../../pipeline/pipeline.ts'
import type { Endpoint } from '../handler.ts'
import { AUTHZEN_PATHS } from './discovery.ts'

/** @param pipeline its engine decides who may ask; its routes answer */
export function authzenEndpoints(pipeline: Pipeline): Endpoint[] {
  return AUTHZEN_PATHS.map((path) => ({
    path,
    pipeline,
    handle: (request, response) => pipeline.handle(request, response),
  }))
}
