// What `noetl-cp/client` exports.
export {
  ApiError,
  type CallOptions,
  type Client,
  type ClientSettings,
  createClient,
  type OperationName,
  type RequestOptions,
} from './client.js'
export type { Operations } from './operations.js'
