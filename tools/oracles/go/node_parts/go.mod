module slipway.dev/engines/node_parts

go 1.26.0
