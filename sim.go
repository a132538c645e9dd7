package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"sluice/internal/sim"
)

// simCmd runs the simulated vendors alone.
type simCmd struct {
	Control string `help:"Address of the control port: GET /sim/stats, PUT or PATCH /sim/behaviour, POST /sim/reset." default:"127.0.0.1:9190"`
	Host    string `help:"Address that the vendors listen on." default:"127.0.0.1"`
	Shop    string `help:"Address of the demo shop that the shipped tools call; empty: none." default:"127.0.0.1:9111"`
	Text    string `help:"Address of the carrier of text messages; empty: none." default:"127.0.0.1:9112"`
	Account string `help:"Its account: Twilio's Account SID, and Aliyun's AccessKey ID." default:"AC00000000000000000000000000000000"`
	Token   string `help:"Its token, which signs requests and receipts." default:"simulated-token"`
	Reports string `help:"Where Aliyun's receipts go, with the secret; empty: nowhere. Twilio's go where each message says."`
	Port    int    `help:"Port of the first vendor, the others follow; 0: any free ports." default:"9101"`
}

// addShop adds the demo shop. An address that nobody asked for may be taken: then it is any.
func (c *simCmd) addShop(ctx context.Context, server *sim.Server) error {
	switch c.Shop {
	case "":
		return nil
	case sim.DefaultShopAddr:
		return addShop(ctx, server)
	}
	return server.AddShop(ctx, c.Shop)
}

// addCarrier adds the carrier of text messages, at any address where that which nobody asked
// for is taken.
func (c *simCmd) addCarrier(ctx context.Context, server *sim.Server) error {
	if c.Text == "" {
		return nil
	}
	cfg := sim.TextConfig{Account: c.Account, Token: c.Token, Reports: c.Reports}
	err := server.AddCarrier(ctx, c.Text, cfg)
	if err != nil && c.Text == sim.DefaultTextAddr {
		err = server.AddCarrier(ctx, "127.0.0.1:0", cfg)
	}
	return err
}

// Run serves until the context ends.
func (c *simCmd) Run(ctx context.Context, out io.Writer) error {
	vendors := sim.Defaults()
	for i := range vendors {
		port := 0
		if c.Port > 0 {
			port = c.Port + i
		}
		vendors[i].Addr = net.JoinHostPort(c.Host, strconv.Itoa(port))
	}
	server, err := sim.Listen(ctx, c.Control, vendors)
	if err != nil {
		return err
	}
	if err := c.addShop(ctx, server); err != nil {
		return errors.Join(err, server.Close())
	}
	if err := c.addCarrier(ctx, server); err != nil {
		return errors.Join(err, server.Close())
	}
	_, _ = fmt.Fprintln(out, "Simulated vendors are ready.")
	for _, v := range server.Vendors() {
		_, _ = fmt.Fprintf(out, "  %-9s %s (quota %d)\n", v.Name(), server.URL(v.Name()), v.Stats().Quota)
	}
	if url := server.ShopURL(); url != "" {
		_, _ = fmt.Fprintf(out, "  %-9s %s\n", "shop", url)
	}
	if url := server.CarrierURL(); url != "" {
		_, _ = fmt.Fprintf(out, "  %-9s %[2]s/twilio, %[2]s/aliyun (account %[3]s)\n", "texts", url, c.Account)
	}
	_, _ = fmt.Fprintf(out, "  %-9s GET %[2]s/sim/stats, PUT or PATCH %[2]s/sim/behaviour, POST %[2]s/sim/reset\n", "control", server.ControlURL())
	return server.Run(ctx)
}
