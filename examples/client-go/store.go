package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// folder is a Store for trying: secret.json holds what the data Secret would, status.json the status.
type folder string

func (f folder) Secret(context.Context) (*Secret, error) {
	data, err := os.ReadFile(filepath.Join(string(f), "secret.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := &Secret{}
	return found, json.Unmarshal(data, found)
}

func (f folder) Apply(_ context.Context, secret *Secret) error {
	return f.write("secret.json", secret)
}

func (f folder) Report(_ context.Context, status Status) error {
	return f.write("status.json", status)
}

// write replaces a file as a whole; nobody but the owner may read it.
func (f folder) write(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	beside, err := os.CreateTemp(string(f), "."+name)
	if err != nil {
		return err
	}
	defer os.Remove(beside.Name())
	_, err = beside.Write(data)
	if err := errors.Join(err, beside.Close()); err != nil {
		return err
	}
	return os.Rename(beside.Name(), filepath.Join(string(f), name))
}
